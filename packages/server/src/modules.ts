export { type Complete } from './modules/completion.ts';
export { compose } from './modules/compose.ts';
export {
  definePrompt,
  type PromptArguments,
  type PromptDefinition,
  type PromptModule,
  type PromptReturn,
} from './modules/prompt-module.ts';
export { registerPrompts } from './modules/register-prompts.ts';
export { registerResources } from './modules/register-resources.ts';
export { registerTools, type ModuleOptions } from './modules/register-tools.ts';
export {
  defineResource,
  type ListedResource,
  type ResourceDefinition,
  type ResourceModule,
  type ResourcePart,
  type ResourceRequest,
  type ResourceReturn,
  type TemplateVariables,
  type VariablesOf,
} from './modules/resource-module.ts';
export {
  defineTool,
  type DefinedTool,
  type FailedToolResult,
  type InputSchemaLike,
  type OutputSchemaLike,
  type QuestionResult,
  type StructuredToolResult,
  type ToolContext,
  type ToolDefinition,
  type ToolExtra,
  type ToolHandler,
  type ToolModule,
  type ToolReturn,
} from './modules/tool-module.ts';
export { withAuth, type AccessTokens, type AuthOptions, type WithoutToken } from './modules/with-auth.ts';
export { withLogging, type LoggingOptions } from './modules/with-logging.ts';
export type { AnyModule } from './modules/wrap-handler.ts';
export type { ModuleServer } from './modules/low-level.ts';
