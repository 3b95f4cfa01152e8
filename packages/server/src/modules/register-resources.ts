import {
  type CacheHint,
  type InputRequiredResult,
  isInputRequiredResult,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import type { Logger } from '../logger.ts';
import { inNameOrder, keptForModules } from './catalogue.ts';
import { offerCompletion } from './completion.ts';
import { claim, lowLevel, type ModuleServer } from './low-level.ts';
import type { ContextArguments } from './module-context.ts';
import { protocolErrorOf } from './protocol-error-of.ts';
import { quoted } from './quoted.ts';
import type { ModuleOptions } from './register-tools.ts';
import { contentsOf } from './resource-contents.ts';
import type { ResourceModule, ResourceRequest } from './resource-module.ts';
import type { ToolContext, ToolExtra } from './tool-module.ts';
import { compileTemplate, type MatchUri } from './uri-template.ts';

/** Answers `resources/list`, `resources/templates/list` and `resources/read` from modules. */
export function registerResources<const Modules extends readonly ResourceModule[]>(
  server: ModuleServer,
  modules: Modules,
  ...[context, options = {}]: ContextArguments<Modules, ModuleOptions>
): void {
  const catalogue = resourceCatalogue(modules);
  const low = lowLevel(server);
  claim(low, 'resources', ['resources/list', 'resources/templates/list', 'resources/read'], options);
  const reading: Reading = { catalogue, context: context ?? {}, logger: options.logger };
  low.setRequestHandler('resources/list', async (_request, extra) => ({
    resources: [...catalogue.resources, ...(await listedByTemplates(reading, extra))],
  }));
  low.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: catalogue.resourceTemplates,
  }));
  low.setRequestHandler(
    'resources/read',
    async ({ params }, extra) => await readResource(reading, params.uri, extra),
  );
  if (modules.some(({ complete }) => complete !== undefined)) {
    offerCompletion(low, 'resource', {
      find: (uri) => suggestions(catalogue, uri),
      logger: options.logger,
    });
  }
}

interface ResourceCatalogue {
  readonly modules: readonly ResourceModule[];
  readonly byUri: ReadonlyMap<string, ResourceModule>;
  readonly templates: readonly Template[];
  readonly resources: Resource[];
  readonly resourceTemplates: ResourceTemplateType[];
}

interface Template {
  readonly module: ResourceModule;
  readonly template: string;
  readonly match: MatchUri;
}

interface Reading {
  readonly catalogue: ResourceCatalogue;
  readonly context: ToolContext;
  readonly logger: Logger | undefined;
}

// Keyed by the caller's array: a factory that runs for each request checks and compiles its modules once.
const catalogues = new WeakMap<readonly ResourceModule[], ResourceCatalogue>();

function resourceCatalogue(modules: readonly ResourceModule[]): ResourceCatalogue {
  return keptForModules(catalogues, modules, (snapshot) => {
    const ordered = inNameOrder('resource', snapshot);
    ordered.forEach(assertAddress);
    const templates = ordered.flatMap(templateOf);
    return {
      modules: snapshot,
      byUri: byUri(ordered),
      templates,
      resources: ordered.flatMap((module) =>
        module.uri === undefined ? [] : [listedResource(module.uri, module)],
      ),
      resourceTemplates: templates.map(({ module, template }) => ({
        uriTemplate: template,
        ...described(module),
      })),
    };
  });
}

function assertAddress({ name, uri, template }: ResourceModule): void {
  if ((uri === undefined) === (template === undefined)) {
    throw new TypeError(
      `Resource '${name}' has ${uri === undefined ? 'neither' : 'both'} uri and template: set one of them`,
    );
  }
  if (uri !== undefined && !URL.canParse(uri)) {
    throw new TypeError(
      `The uri of resource '${name}' is ${JSON.stringify(uri)}: it needs a scheme, as in "notes://index"`,
    );
  }
}

function byUri(modules: readonly ResourceModule[]): ReadonlyMap<string, ResourceModule> {
  const found = new Map<string, ResourceModule>();
  for (const module of modules) {
    if (module.uri === undefined) continue;
    const first = found.get(module.uri);
    if (first !== undefined) {
      throw new TypeError(
        `Resources '${first.name}' and '${module.name}' have one uri, ${module.uri}: change one of them`,
      );
    }
    found.set(module.uri, module);
  }
  return found;
}

function templateOf(module: ResourceModule): Template[] {
  const { name, template } = module;
  if (template === undefined) return [];
  try {
    return [{ module, template, match: compileTemplate(template) }];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(
      `The template of resource '${name}' is not valid: ${reason} in ${JSON.stringify(template)}`,
      {
        cause: error,
      },
    );
  }
}

function listedResource(uri: string, module: ResourceModule): Resource {
  return { uri, ...described(module), ...(module.size !== undefined && { size: module.size }) };
}

/** Members that resources and templates have in common. */
function described(module: ResourceModule): Omit<Resource, 'uri'> {
  const { name, title, description, mimeType, annotations, icons, _meta } = module;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    ...(mimeType !== undefined && { mimeType }),
    ...(annotations !== undefined && { annotations }),
    ...(icons !== undefined && { icons }),
    ...(_meta !== undefined && { _meta }),
  };
}

async function listedByTemplates(
  { catalogue, context, logger }: Reading,
  extra: ToolExtra,
): Promise<Resource[]> {
  const listing = catalogue.templates.filter(({ module }) => module.list !== undefined);
  try {
    const lists = await Promise.all(
      listing.map(async ({ module }) => {
        const found = (await module.list?.(extra, context)) ?? [];
        return found.map((resource) => ({ ...described(module), ...resource }));
      }),
    );
    return lists.flat();
  } catch (error) {
    throw protocolErrorOf(error, logger);
  }
}

async function readResource(
  { catalogue, context, logger }: Reading,
  uri: string,
  extra: ToolExtra,
): Promise<ReadResourceResult | InputRequiredResult> {
  const found = findResource(catalogue, uri);
  if (found === undefined) throw new ResourceNotFoundError(quoted(uri));
  try {
    const returned = await found.module.handler(found.request, extra, context);
    if (returned === undefined) throw new ResourceNotFoundError(quoted(uri));
    if (isInputRequiredResult(returned)) return returned;
    const result = contentsOf(found.module, uri, returned);
    return extra.mcpReq.envelope === undefined ? result : withHint(result, found.module.cacheHint);
  } catch (error) {
    if (extra.mcpReq.signal.aborted) throw error;
    throw protocolErrorOf(error, logger);
  }
}

interface Found {
  readonly module: ResourceModule;
  readonly request: ResourceRequest;
}

/** Looks for the URI as it was sent, then in its normal form, and then among the templates. */
function findResource(catalogue: ResourceCatalogue, uri: string): Found | undefined {
  const normal = URL.canParse(uri) ? new URL(uri).href : uri;
  const module = catalogue.byUri.get(uri) ?? catalogue.byUri.get(normal);
  if (module !== undefined) return { module, request: { uri, variables: {} } };
  for (const template of catalogue.templates) {
    const variables = template.match(uri);
    if (variables !== undefined) return { module: template.module, request: { uri, variables } };
  }
  return undefined;
}

function withHint(result: ReadResourceResult, hint: CacheHint | undefined): ReadResourceResult {
  return hint === undefined ? result : { ...hint, ...result };
}

function suggestions(
  catalogue: ResourceCatalogue,
  uri: string,
): { found: boolean; complete?: ResourceModule['complete'] } {
  const module =
    catalogue.templates.find(({ template }) => template === uri)?.module ?? catalogue.byUri.get(uri);
  return { found: module !== undefined, complete: module?.complete };
}
