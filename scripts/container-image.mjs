// @ts-check
// An image with Node and the fixtures, made from the files of this machine, and containers that look like a gateway's.
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './steps.mjs';

export const IMAGE = 'weir-test/node:1';

/**
 * No registry is asked: what this machine runs is what the container gets.
 * @param {{ host: string; bin: string }} engine
 */
export async function importImage({ host, bin }) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-image-'));
  try {
    const node = join(folder, 'bin', 'node');
    /** @type {[from: string, to: string][]} */
    const files = [[process.execPath, node], ...librariesOf(process.execPath, folder)];
    for (const [from, to] of files) {
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
    }
    mkdirSync(join(folder, 'tmp'));
    cpSync(join(root, 'tests', 'fixtures'), join(folder, 'fixtures'), { recursive: true });
    const args = ['-H', host, 'import', '--change', 'ENV PATH=/bin HOME=/tmp', '-', IMAGE];
    await pipe(folder, join(bin, 'docker'), args);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} program
 * @param {string} folder
 * @returns {[from: string, to: string][]}
 */
function librariesOf(program, folder) {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => [path, join(folder, path)]);
}

/**
 * @param {string} folder
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Promise<void>}
 */
function pipe(folder, command, args) {
  return new Promise((resolve, reject) => {
    const tar = spawn('tar', ['-C', folder, '-c', '.'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const importing = spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'] });
    tar.stdout.pipe(importing.stdin);
    importing.once('error', reject).once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the image could not be imported (exit code ${code})`));
    });
  });
}

/**
 * Creates containers that look like ours: of another machine, boot or namespace, with a label missing, of a living process,
 * and of an image that was made from one of ours and has its labels.
 * @param {(...args: string[]) => Promise<string>} docker
 * @param {Record<string, string>} labels of a container of ours
 */
export function createForeign(docker, labels) {
  const nobody = { ...labels, 'weir.owner.pid': '2147480000', 'weir.owner.start': '1' };
  const incomplete = Object.fromEntries(
    Object.entries(nobody).filter(([name]) => name !== 'weir.owner.boot'),
  );
  const living = { 'weir.owner.pid': String(process.pid), 'weir.owner.start': startOf(process.pid) };
  const foreign = [
    { ...nobody, 'weir.owner.machine': 'another' },
    { ...nobody, 'weir.owner.boot': 'another' },
    { ...nobody, 'weir.owner.namespace': 'pid:[1]' },
    incomplete,
    { ...labels, ...living },
  ];
  const named = foreign.map((own) => ({ ...own, 'weir.name': `foreign-${randomUUID()}` }));
  return Promise.all([
    ...named.map((own) => createWith(docker, own['weir.name'], own)),
    createWith(docker, `foreign-${randomUUID()}`, nobody),
  ]);
}

/**
 * @param {(...args: string[]) => Promise<string>} docker
 * @param {string} name
 * @param {Record<string, string>} labels
 */
function createWith(docker, name, labels) {
  const all = Object.entries({ ...labels, 'weir-test.foreign': 'yes' });
  const args = all.map(([label, value]) => `--label=${label}=${value}`);
  return docker('create', `--name=${name}`, '--network=none', ...args, IMAGE, 'node', '--version');
}

/** @param {number} pid */
function startOf(pid) {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[19] ?? '';
}
