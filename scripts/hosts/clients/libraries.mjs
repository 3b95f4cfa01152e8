// @ts-check
// Libraries whose MCP client is used by a driver.
import { driverCommand, runDriver } from '../library-host.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';
import { QUIET } from './quiet.mjs';

/** @typedef {import('../clients.mjs').Client} Client */

const SDK_V2 = { '@modelcontextprotocol/client': '2.4.0' };
const READ_ONCE = 'its tools are read once, a program reads them again by itself';
const NOT_SHOWN = 'its interface does not show them';

/** @type {Readonly<Record<string, Client>>} */
export const LIBRARIES = {
  'sdk-v1': library('TypeScript SDK v1', { '@modelcontextprotocol/sdk': '1.32.2' }, 'sdk-v1'),
  'sdk-v2-legacy': library('TypeScript SDK v2, legacy', SDK_V2, 'sdk-v2', { more: { era: 'legacy' } }),
  'sdk-v2-modern': library('TypeScript SDK v2, modern', SDK_V2, 'sdk-v2', { more: { era: 'modern' } }),
  'ai-sdk': agent(
    'Vercel AI SDK',
    { '@ai-sdk/mcp': '2.0.93', ai: '7.0.169', '@ai-sdk/openai': '3.0.139', zod: '4.6.7' },
    'ai-sdk',
    { changed: READ_ONCE },
  ),
  langchain: library(
    'LangChain MCP adapters',
    { '@langchain/mcp-adapters': '1.1.4', '@langchain/core': '1.2.13', '@langchain/langgraph': '1.4.18' },
    'langchain',
  ),
  'openai-agents': agent('OpenAI Agents SDK', { '@openai/agents': '0.20.0', zod: '4.6.7' }, 'openai-agents'),
  'claude-agent-sdk': agent(
    'Claude Agent SDK',
    { '@anthropic-ai/claude-agent-sdk': '0.3.325', zod: '4.6.7' },
    'claude-agent-sdk',
  ),
  'mcp-use': library('mcp-use', { 'mcp-use': '1.34.6', '@langchain/core': '1.2.13' }, 'mcp-use', {
    unable: { instructions: NOT_SHOWN },
  }),
  mastra: library('Mastra', { '@mastra/mcp': '2.0.0' }, 'mastra'),
  llamaindex: library('LlamaIndex', { '@llamaindex/tools': '0.2.1', llamaindex: '0.12.1' }, 'llamaindex', {
    unable: { instructions: NOT_SHOWN },
  }),
  strands: library('Strands Agents', { '@strands-agents/sdk': '1.19.0' }, 'strands'),
  'google-adk': library('Google ADK', { '@google/adk': '2.0.0' }, 'google-adk', {
    unable: { instructions: NOT_SHOWN },
  }),
  genkit: library('Genkit', { '@genkit-ai/mcp': '1.42.0', genkit: '1.42.0' }, 'genkit', {
    unable: { instructions: NOT_SHOWN },
  }),
  voltagent: library('VoltAgent', { '@voltagent/core': '2.10.0' }, 'voltagent', {
    unable: { instructions: NOT_SHOWN },
  }),
};

/**
 * A library that a program calls tools with.
 * @param {string} name
 * @param {Client['packages']} packages
 * @param {string} driver
 * @param {{ unable?: Client['unable']; more?: object }} [options]
 * @returns {Client}
 */
function library(name, packages, driver, { unable = {}, more = {} } = {}) {
  const run = (/** @type {import('../scene.mjs').Scene} */ scene) => runDriver(scene, driver, more);
  return { name, packages, transports: ['stdio', 'http'], unable, run };
}

/**
 * A library with a loop of its own between model and tools.
 * @param {string} name
 * @param {Client['packages']} packages
 * @param {string} driver
 * @param {Client['unable']} [unable]
 * @returns {Client}
 */
function agent(name, packages, driver, unable = {}) {
  /** @type {Client['run']} */
  const run = (scene) =>
    runWithModel(scene, (_scene, model) => ({
      ...driverCommand(scene, driver, { model, prompt: PROMPT }),
      env: { ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'none', ...QUIET },
    }));
  return { name, packages, transports: ['stdio', 'http'], needsModel: true, unable, run };
}
