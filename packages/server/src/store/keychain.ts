import { execFile } from 'node:child_process';
import type { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface KeychainOptions {
  readonly env: Environment;
  /** Name of the program: the service of the keychain's item. */
  readonly name: string;
  /** The variable that may hold the key itself. */
  readonly variable: string;
  readonly platform?: NodeJS.Platform;
  /** Throws where a new key must not be made. */
  readonly checkNew?: () => void;
  /** For everything together: a keychain may wait for a person who is not there. */
  readonly limitMs?: number;
}

interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Talk {
  readonly name: string;
  /** The rest of a sentence: what to do without a keychain. */
  readonly instead: string;
  readonly run: (command: string, args: readonly string[], input?: string) => Promise<CommandResult>;
  /** When the limit is over. */
  readonly signal: AbortSignal;
}

interface Keychain {
  readonly find: (talk: Talk) => Promise<string | undefined>;
  /** Adds the key, but never replaces one: a process that comes second uses the key of the first. */
  readonly add: (talk: Talk, value: string) => Promise<void>;
}

const LIMIT_MS = 10_000;
/** Exit code of `security` for a missing item. */
const NOT_FOUND = 44;
const RETRY_MS = 50;

/** The master key as the system's keychain has it; where it has none, one is made and put there. */
export async function keychainText(options: KeychainOptions): Promise<string> {
  const { env, name, variable, checkNew, platform = process.platform, limitMs = LIMIT_MS } = options;
  const instead = `provide the key in ${variable}, or the path of its file in ${variable}_FILE`;
  const keychain = keychainOf(platform, `${variable}=keychain is not supported on ${platform}: ${instead}`);
  const signal = AbortSignal.timeout(limitMs);
  const talk: Talk = {
    name,
    instead,
    run: (command, args, input) => runCommand(command, args, { env, signal, input, instead }),
    signal,
  };
  try {
    const found = await keychain.find(talk);
    if (found !== undefined) return found;
    checkNew?.();
    return await make(keychain, talk);
  } catch (error) {
    if (!signal.aborted) throw error;
    const text = `The keychain has not answered within ${limitMs / 1000} s: unlock it if it is locked, or ${instead}`;
    throw new Error(text, { cause: error });
  }
}

function keychainOf(platform: NodeJS.Platform, otherwise: string): Keychain {
  if (platform === 'linux') return secretService;
  if (platform === 'darwin') return macKeychain;
  throw new Error(otherwise);
}

/** Adds a new key and reads it back, because another process may have added one first. */
async function make(keychain: Keychain, talk: Talk): Promise<string> {
  const { randomBytes } = await import('node:crypto');
  await keychain.add(talk, randomBytes(32).toString('hex'));
  const kept = await keychain.find(talk);
  if (kept === undefined) throw new Error(`The keychain did not store the new master key: ${talk.instead}`);
  return kept;
}

const secretService: Keychain = {
  async find(talk) {
    const { code, stdout, stderr } = await talk.run('secret-tool', ['lookup', ...itemOf(talk)]);
    if (code === 0) return stdout;
    if (stderr !== '') throw refusal('secret-tool', stderr, talk);
    return undefined;
  },
  // `store` would replace what is there: one process at a time, and only where there is nothing, not even locked.
  add: (talk, value) =>
    alone(talk.signal, async () => {
      if ((await secretService.find(talk)) !== undefined) return;
      const item = itemOf(talk);
      const { code, stdout, stderr } = await talk.run('secret-tool', ['search', ...item]);
      if (stdout !== '') throw new Error(`The keychain is locked: unlock it, or ${talk.instead}`);
      if (code !== 0) throw refusal('secret-tool', stderr, talk);
      const stored = await talk.run('secret-tool', ['store', `--label=${labelOf(talk)}`, ...item], value);
      if (stored.code !== 0) throw refusal('secret-tool', stored.stderr.replaceAll(value, '…'), talk);
    }),
};

const macKeychain: Keychain = {
  async find(talk) {
    const args = ['find-generic-password', '-s', talk.name, '-a', 'master-key', '-w'];
    const { code, stdout, stderr } = await talk.run('security', args);
    if (code === 0) return stdout;
    if (code !== NOT_FOUND) throw refusal('security', stderr, talk);
    return undefined;
  },
  // Other users see the arguments of a process, not its stdin. Without -U it refuses to replace what is there.
  async add(talk, value) {
    const command = `add-generic-password -s ${talk.name} -a master-key -l "${labelOf(talk)}" -w ${value}\n`;
    await talk.run('security', ['-i'], command);
  },
};

function itemOf({ name }: Talk): string[] {
  return ['service', name, 'account', 'master-key'];
}

function labelOf({ name }: Talk): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)} master key`;
}

function refusal(command: string, words: string, { instead }: Talk): Error {
  const reason = words.split('\n', 1)[0] || `${command} gave no reason`;
  return new Error(`The keychain cannot be used (${reason}): unlock it if it is locked, or ${instead}`);
}

interface RunOptions {
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly input: string | undefined;
  readonly instead: string;
}

function runCommand(command: string, args: readonly string[], options: RunOptions): Promise<CommandResult> {
  const { input, instead, ...rest } = options;
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { ...rest, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      process.off('exit', kill);
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr: stderr.trim() });
      else reject(notRun(command, error as Error, instead));
    });
    // A process that ends does not leave it waiting for a person.
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    // One that ends without reading says why by its exit code.
    child.stdin?.on('error', () => {}).end(input);
  });
}

function notRun(command: string, error: NodeJS.ErrnoException, instead: string): Error {
  const source = command === 'secret-tool' ? ' (Debian: libsecret-tools, Fedora: libsecret)' : '';
  const text =
    error.code === 'ENOENT'
      ? `The keychain needs the command "${command}", which was not found: install it${source}, or ${instead}`
      : `The keychain cannot be used, "${command}" was interrupted: ${instead}`;
  return new Error(text, { cause: error });
}

/** One process of this user at a time. The system lets go of such a name with the process, however that ends. */
async function alone(signal: AbortSignal, action: () => Promise<void>): Promise<void> {
  // Filled up to the end: releases of Node differ in what follows a shorter name.
  const name = `\0weir-keychain-${process.getuid?.()}-`.padEnd(108, '.');
  let held = await hold(name);
  while (held === undefined) {
    await delay(RETRY_MS, undefined, { signal });
    held = await hold(name);
  }
  try {
    await action();
  } finally {
    held.close();
  }
}

async function hold(name: string): Promise<Server | undefined> {
  const { createServer } = await import('node:net');
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(name, () => resolve(server));
  });
}
