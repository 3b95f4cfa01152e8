/** The keys and indexes that lead from the top of a document to one value. */
export type JsonPath = readonly (string | number)[];

/** `$.mcpServers.files.args[1]`; a key that is no identifier stands in brackets and quotes. */
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
