// @ts-check
// The generateContent API of Google.

/**
 * What is read of a request.
 * @typedef {object} Body
 * @property {{ functionDeclarations?: { name: string }[] }[]} [tools]
 * @property {unknown} [systemInstruction]
 * @property {{ parts?: { functionResponse?: { response: unknown } }[] }[]} contents
 */

/** @type {import('./server.mjs').Dialect<Body>} */
export const gemini = {
  speaks: (path) => /:(stream)?generateContent$/i.test(path),
  read({ tools = [], systemInstruction, contents }) {
    const parts = contents.flatMap(({ parts: own = [] }) => own);
    return {
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
      text: JSON.stringify([systemInstruction, contents]),
      results: parts.flatMap(({ functionResponse }) =>
        functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response)],
      ),
    };
  },
  events: (body, move) => [answer(body, move)],
  whole: answer,
  isStreamed: (_body, path) => /:streamGenerateContent$/i.test(path),
};

/**
 * @param {Body} _body
 * @param {import('./server.mjs').Move} move
 */
function answer(_body, { call, args, id, text }) {
  const part = call === undefined ? { text } : { functionCall: { id, name: call, args } };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 };
  return { candidates: [candidate], usageMetadata, modelVersion: 'scripted', responseId: id };
}
