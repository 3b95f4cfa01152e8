// @ts-check

/**
 * Returns the text of a tool's result, which is a text, a list of blocks or an object, depending on API and host.
 * @param {unknown} content
 * @returns {string}
 */
export function textOf(content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? '');
  return content.map((block) => block.text ?? JSON.stringify(block)).join('\n');
}
