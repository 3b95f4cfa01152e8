// @ts-check
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { createForeign, IMAGE, importImage } from '../container-image.mjs';
import { startEngine, whyNoEngine } from '../dockerd.mjs';
import { after, finding, processesEndingWith, processesMarked, secondsUntil, skipped } from './common.mjs';
import { start } from './subjects.mjs';

const GONE = '5 s later no process is left outside of containers';
const ENDED = '5 s later only the container that ignores everything is left';
const CLEAN = 'after the next start no container is left';
const FOREIGN = 'no other container is removed';
const except = { 'mcp-hub': 'it makes no containers', 'mcp-proxy': 'it makes no containers' };

/** @type {import('../chaos.mjs').Fault} */
export const killedContainers = {
  title:
    'The gateway is killed (SIGKILL); its three servers are in containers, and one of them ignores the end of its input and SIGTERM',
  subjects: ['weir'],
  except,
  async run(name, { gateway }) {
    const engine = await tryEngine();
    if (typeof engine === 'string')
      return [GONE, ENDED, CLEAN, FOREIGN].map((promise) => skipped(promise, engine));
    try {
      return await killAndStartAgain(name, { engine, gateway });
    } finally {
      await engine.stop();
    }
  },
};

/** @returns {Promise<import('../dockerd.mjs').DockerEngine | string>} */
async function tryEngine() {
  const reason = whyNoEngine();
  if (reason !== undefined) return reason;
  try {
    const engine = await startEngine();
    await importImage(engine);
    return engine;
  } catch (error) {
    return `containers: ${/** @type {Error} */ (error).message.split('\n')[0]}`;
  }
}

/**
 * @param {import('./subjects.mjs').Name} name
 * @param {{ engine: import('../dockerd.mjs').DockerEngine; gateway: string | undefined }} options
 */
async function killAndStartAgain(name, { engine, gateway }) {
  const env = { DOCKER_HOST: engine.host, PATH: `${engine.bin}:${process.env['PATH'] ?? ''}` };
  const docker = async (/** @type {string[]} */ ...args) =>
    (await promisify(execFile)('docker', args, { env })).stdout.trim();
  const withLabel = async (/** @type {string} */ label) =>
    (await docker('ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${label}`))
      .split('\n')
      .filter(Boolean);

  const mark = randomUUID();
  const killed = await start(name, servers('echo', 'crash', 'ignores-sigterm'), { gateway, env, mark });
  const mine = await withLabel(`weir.owner.pid=${killed.pid}`);
  const running = () => [...processesMarked(mark), ...mine.flatMap(processesEndingWith)].length;
  const before = running();
  const foreign = await createForeign(
    docker,
    JSON.parse(await docker('inspect', '-f', '{{json .Config.Labels}}', mine[0] ?? '')),
  );
  const left = async () =>
    (await withLabel(`weir.owner.pid=${killed.pid}`)).filter((id) => !foreign.includes(id));
  killed.kill();
  const gone = await secondsUntil(5, () => running() === 0);
  const ended = await secondsUntil(5, async () => (await left()).length <= 1);
  const next = await start(name, servers('echo'), { gateway, env });
  const remaining = (await left()).length;
  const others = await withLabel('weir-test.foreign=yes');
  await Promise.all([killed.end(), next.end()]);
  return [
    finding(GONE, gone !== undefined, `${before} processes, none left ${after(gone)}`),
    finding(ENDED, mine.length === 3 && ended !== undefined, `${mine.length} containers, so ${after(ended)}`),
    finding(CLEAN, remaining === 0, `${remaining} left`),
    finding(
      FOREIGN,
      foreign.every((id) => others.includes(id)),
      `${others.length} of ${foreign.length} with similar labels are still there`,
    ),
  ];
}

/** @param {string[]} fixtures */
function servers(...fixtures) {
  const entry = (/** @type {string} */ one) => ({
    image: IMAGE,
    args: ['node', `/fixtures/${one}.mjs`],
    startupTimeout: 60_000,
  });
  return Object.fromEntries(fixtures.map((one) => [one, entry(one)]));
}
