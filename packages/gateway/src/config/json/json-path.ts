/** The keys and indexes that lead from the top of a document to one value. */
export type JsonPath = readonly (string | number)[];

/** Returns a text like `$.mcpServers.files.args[1]`; brackets and quotes surround a key that is not an identifier. */
export function formatPath(path: JsonPath): string {
  return `$${path.map(formatStep).join('')}`;
}

/** The same without the root: `mcpServers.files.args[1]`. */
export function formatLocation(path: JsonPath): string {
  return formatPath(path).replace(/^\$\.?/, '');
}

function formatStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[A-Za-z_$][\w$]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
