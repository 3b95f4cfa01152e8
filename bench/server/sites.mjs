// Contestants at work, and calls whose answers are checked: a server that answers wrongly, or refuses, ends the run.
import { isDeepStrictEqual } from 'node:util';
import { connect, handshake } from '../client.mjs';
import { MODERN_META } from '../http-client.mjs';
import { modernClient, sessionClient, startSite } from '../http-variants.mjs';
import { freePort } from '../peers.mjs';
import { ERAS } from './contestants.mjs';
import { answerOf, argumentsOf, toolName } from './tools.mjs';

/** Starts a contestant on HTTP; `watched` can be asked for its memory. */
export async function startHttp({ command }, { tools = 100, plain = false, watched = false } = {}) {
  const port = await freePort();
  const args = [...command, ...shape(tools, plain), '--port', String(port)];
  const site = await startSite(watched ? ['--expose-gc', ...args] : args, { channel: watched });
  return { ...site, memory: () => memoryOf(site.child) };
}

/** A client of one era, each with connections of its own. */
export async function reachHttp(site, era) {
  return era === 'modern' ? modernClient(site, site.url, { name: era }) : await sessionClient(site);
}

/** Starts a contestant on stdio, where the first message decides on the era. */
export async function startStdio({ command }, era, { tools = 100, plain = false } = {}) {
  const meta = era === 'modern' ? MODERN_META : undefined;
  const client = connect([process.execPath, ...command, ...shape(tools, plain)], { env: process.env, meta });
  if (era === 'modern') await discover(client);
  else await handshake(client);
  return client;
}

const shape = (tools, plain) => [`--tools=${tools}`, ...(plain ? ['--plain'] : [])];

async function discover(client) {
  const { result } = await client.request('server/discover');
  if (!result?.supportedVersions.includes(ERAS.modern))
    throw new Error(`${client.label} does not speak ${ERAS.modern}`);
}

/** Keeps `inFlight` calls under way until `count` are answered; `from` is the number of the first. */
export async function callTools(client, { count, inFlight = 1, from = 0, tools = 100, plain = false }) {
  let next = from;
  const work = async () => {
    while (next < from + count) await callTool(client, next++, { tools, plain });
  };
  await Promise.all(Array.from({ length: inFlight }, work));
}

// 7919 is a prime: calls wander over all tools, and always the same one would flatter a cache.
async function callTool(client, call, { tools, plain }) {
  const name = toolName((call * 7919) % tools);
  const args = argumentsOf(call);
  const message = await client.request('tools/call', { name, arguments: args });
  if (!isRight(message.result, answerOf(name, args), plain))
    throw new Error(`${client.label} answered ${JSON.stringify(message)}`);
}

function isRight(result, expected, plain) {
  const [block] = result?.content ?? [];
  if (result?.isError || block?.type !== 'text') return false;
  const inText = isDeepStrictEqual(JSON.parse(block.text), expected);
  return inText && (plain || isDeepStrictEqual(result.structuredContent, expected));
}

/** Lists all tools once, and makes sure that none has lost a schema. */
export async function listAll(client, tools) {
  const message = await client.request('tools/list');
  const listed = message.result?.tools ?? [];
  const isWhole = listed.every(
    ({ inputSchema, outputSchema }) => fields(inputSchema) === 3 && fields(outputSchema) === 4,
  );
  if (listed.length !== tools || !isWhole)
    throw new Error(`${client.label} listed ${JSON.stringify(message).slice(0, 1000)}`);
}

const fields = (schema) => Object.keys(schema?.properties ?? {}).length;

async function memoryOf(child) {
  const answer = new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error('the server ended before it told its memory')));
  });
  child.send('memory');
  return await answer;
}
