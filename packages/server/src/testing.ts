export { type ClientAnswers } from './testing/client-answers.ts';
export { connectInMemory, type InMemoryClient, type InMemoryOptions } from './testing/connect-in-memory.ts';
export { type TestServerFactory } from './testing/in-memory-link.ts';
export { type CallArguments, type ToolAnswer, type ToolName } from './testing/tool-answer.ts';
