import {
  type GetPromptResult,
  type InputRequiredResult,
  isInputRequiredResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { describeIssues } from '../errors/issues.ts';
import type { Logger } from '../logger.ts';
import { inNameOrder, keptForModules } from './catalogue.ts';
import { offerCompletion } from './completion.ts';
import { parseArguments } from './input.ts';
import { inputJsonSchema } from './json-schema.ts';
import { claim, lowLevel, type ModuleServer } from './low-level.ts';
import type { ContextArguments } from './module-context.ts';
import type { PromptModule, PromptReturn } from './prompt-module.ts';
import { protocolErrorOf } from './protocol-error-of.ts';
import { quoted } from './quoted.ts';
import type { ModuleOptions } from './register-tools.ts';
import type { ToolContext, ToolExtra } from './tool-module.ts';

/** Answers `prompts/list` and `prompts/get` from modules. */
export function registerPrompts<const Modules extends readonly PromptModule[]>(
  server: ModuleServer,
  modules: Modules,
  ...[context, options = {}]: ContextArguments<Modules, ModuleOptions>
): void {
  const catalogue = promptCatalogue(modules);
  const low = lowLevel(server);
  claim(low, 'prompts', ['prompts/list', 'prompts/get'], options);
  const getting: Getting = { catalogue, context: context ?? {}, logger: options.logger };
  low.setRequestHandler('prompts/list', () => ({ prompts: listed(catalogue) }));
  low.setRequestHandler('prompts/get', async ({ params }, extra) => await getPrompt(getting, params, extra));
  if (modules.some(({ complete }) => complete !== undefined)) {
    offerCompletion(low, 'prompt', {
      find: (name) => ({
        found: catalogue.byName.has(name),
        complete: catalogue.byName.get(name)?.complete,
      }),
      logger: options.logger,
    });
  }
}

interface PromptCatalogue {
  readonly modules: readonly PromptModule[];
  readonly byName: ReadonlyMap<string, PromptModule>;
  prompts?: Prompt[];
}

interface Getting {
  readonly catalogue: PromptCatalogue;
  readonly context: ToolContext;
  readonly logger: Logger | undefined;
}

// Keyed by the caller's array: a factory that runs for each request checks and sorts its modules once.
const catalogues = new WeakMap<readonly PromptModule[], PromptCatalogue>();

function promptCatalogue(modules: readonly PromptModule[]): PromptCatalogue {
  return keptForModules(catalogues, modules, (snapshot) => ({
    modules: snapshot,
    byName: new Map(inNameOrder('prompt', snapshot).map((prompt) => [prompt.name, prompt])),
  }));
}

function listed(catalogue: PromptCatalogue): Prompt[] {
  catalogue.prompts ??= [...catalogue.byName.values()].map(listedPrompt);
  return catalogue.prompts;
}

function listedPrompt(prompt: PromptModule): Prompt {
  const { name, title, description, argsSchema, icons, _meta } = prompt;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    ...(argsSchema !== undefined && { arguments: listedArguments(name, argsSchema) }),
    ...(icons !== undefined && { icons }),
    ...(_meta !== undefined && { _meta }),
  };
}

interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, { readonly description?: string; readonly title?: string }>>;
  readonly required?: readonly string[];
}

function listedArguments(
  name: string,
  schema: NonNullable<PromptModule['argsSchema']>,
): NonNullable<Prompt['arguments']> {
  const { properties = {}, required = [] } = argumentsSchema(name, schema);
  return Object.entries(properties).map(([argument, { description, title }]) => ({
    name: argument,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    required: required.includes(argument),
  }));
}

function argumentsSchema(name: string, schema: NonNullable<PromptModule['argsSchema']>): ArgumentsSchema {
  try {
    return inputJsonSchema(schema);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      `Prompt '${name}' cannot be listed: its argsSchema has no JSON Schema (${reason})`,
    );
  }
}

async function getPrompt(
  { catalogue, context, logger }: Getting,
  params: { readonly name: string; readonly arguments?: Record<string, string> | undefined },
  extra: ToolExtra,
): Promise<GetPromptResult | InputRequiredResult> {
  const prompt = catalogue.byName.get(params.name);
  if (prompt === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Prompt '${quoted(params.name)}' not found`);
  }
  try {
    const args = await parsed(prompt, params.arguments);
    return promptResult(prompt, await prompt.handler(args, extra, context));
  } catch (error) {
    if (extra.mcpReq.signal.aborted) throw error;
    throw protocolErrorOf(error, logger);
  }
}

async function parsed({ name, argsSchema }: PromptModule, args: unknown): Promise<unknown> {
  if (argsSchema === undefined) return {};
  const outcome = await parseArguments(argsSchema, args);
  if (outcome.issues === undefined) return outcome.value;
  const reasons = describeIssues(outcome.issues);
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Invalid arguments for prompt '${name}': ${reasons}`,
  );
}

function promptResult(prompt: PromptModule, returned: PromptReturn): GetPromptResult | InputRequiredResult {
  if (typeof returned === 'string') {
    return described(prompt, [{ role: 'user', content: { type: 'text', text: returned } }]);
  }
  if (isMessages(returned)) return described(prompt, [...returned]);
  if (isInputRequiredResult(returned) || Array.isArray(returned?.messages)) return returned;
  throw new TypeError(
    `The handler of prompt '${prompt.name}' returned a value of type ${typeof returned}: return a text or messages`,
  );
}

function isMessages(returned: PromptReturn): returned is Extract<PromptReturn, readonly unknown[]> {
  return Array.isArray(returned);
}

function described(prompt: PromptModule, messages: GetPromptResult['messages']): GetPromptResult {
  return { description: prompt.description, messages };
}
