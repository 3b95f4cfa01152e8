// @ts-check
// The generateContent API of Google.

/** @type {import('./server.mjs').Dialect} */
export const gemini = {
  speaks: (path) => /:(stream)?generateContent$/i.test(path),
  read({ tools = [], systemInstruction, contents }) {
    const parts = contents.flatMap((/** @type {any} */ { parts: own = [] }) => own);
    return {
      tools: tools.flatMap((/** @type {any} */ { functionDeclarations = [] }) =>
        functionDeclarations.map((/** @type {any} */ { name }) => name),
      ),
      text: JSON.stringify([systemInstruction, contents]),
      results: parts
        .filter((/** @type {any} */ { functionResponse }) => functionResponse !== undefined)
        .map((/** @type {any} */ { functionResponse }) => JSON.stringify(functionResponse.response)),
    };
  },
  events: (body, move) => [answer(body, move)],
  whole: answer,
  isStreamed: (_body, path) => /:streamGenerateContent$/i.test(path),
};

/**
 * @param {any} _body
 * @param {import('./server.mjs').Move} move
 */
function answer(_body, { call, args, id, text }) {
  const part = call === undefined ? { text } : { functionCall: { id, name: call, args } };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 };
  return { candidates: [candidate], usageMetadata, modelVersion: 'scripted', responseId: id };
}
