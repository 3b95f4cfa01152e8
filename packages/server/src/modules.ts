export { registerTools, type ModuleOptions } from './modules/register-tools.ts';
export {
  defineTool,
  type DefinedTool,
  type FailedToolResult,
  type OutputSchemaLike,
  type StructuredToolResult,
  type ToolContext,
  type ToolDefinition,
  type ToolExtra,
  type ToolHandler,
  type ToolModule,
  type ToolReturn,
} from './modules/tool-module.ts';
