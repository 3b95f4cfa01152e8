// @module-tag slow
// Every command of the README and the guides is run as it is written, over tiny servers in place of npm packages and hosts.
// A command that cannot run here stands below with its reason, so that none is added unrun.
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { npmScript } from '../../../scripts/steps.mjs';
import {
  bin,
  modernMeta,
  serverWith,
  temporaryFolder,
  VERSION,
  Weir,
  type Ended,
  type ServerEntry,
} from '../../support/harness.ts';
import { eventually } from '../../support/http.ts';
import { root } from '../../support/source-files.ts';

const README = readFileSync(join(root, 'README.md'), 'utf8');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const PROGRAMS = 'weir|mcp-weir|npm|npx|node|claude|codex|curl|docker|openssl|secret-tool|source|kill';

/** Commands that are not run, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm i -g mcp-weir': 'the package is not published; the tarball is installed instead',
  'npx mcp-weir': 'part of a sentence about a clone; examples.test.ts runs it',
  'npm start': 'its port is fixed; examples.test.ts runs its script at a free one',
  'npm test': 'runs this test',
  'npm run bench': 'minutes; bench.test.ts runs it in short',
  'npm run chaos': 'minutes; chaos.test.ts runs its faults in short',
  'npm run chaos -- --write': 'writes a page of the docs',
  'npm run attack': 'minutes; the tests in tests/attack try its attacks',
  'npm run attack -- --write': 'writes a page of the docs',
  'npm run hosts': 'downloads hosts for minutes; hosts.test.ts tries the smallest',
  'npm run hosts -- --only codex': 'downloads a host',
  'npm install': 'of the folder that weir new wrote; needs packages that are not published',
  'npm start -- --port 3000': 'of that folder; tutorial.test.ts starts its program',
  'npx mcp-weir new books': 'needs the published package; tutorial.test.ts runs the command',
  'npx mcp-weir serve --config mcp.json': 'of that folder',
  'npx @modelcontextprotocol/inspector --cli http://127.0.0.1:3000/mcp --method tools/list': 'of that folder',
  'npx @modelcontextprotocol/inspector --cli node dist/main.js --method tools/call --tool-name book-search --tool-arg words=lem':
    'of that folder',
  'npm install express': 'of that folder',
  'npm install -D @types/express': 'of that folder',
  'npm install openid-client': 'of that folder',
  'kill -9': 'a fault, not a command for users; chaos.test.ts does it',
  'claude mcp add weir -- weir --config /home/me/mcp.json': 'needs the host; the command after -- is run',
  'claude mcp add weir -- weir --config FILE': 'needs the host; the command after -- is run',
  'codex mcp add weir -- weir --config FILE': 'needs the host; the command after -- is run',
  'claude mcp add --transport http weir http://127.0.0.1:8808/mcp --header "Authorization: Bearer $TOKEN"':
    'needs the host',
  'claude mcp add --transport http weir http://127.0.0.1:8808/mcp --header "Authorization: Bearer TOKEN"':
    'needs the host',
  'weir docker ps': 'needs an engine; tests/docker runs it',
  'weir docker gc': 'needs an engine; tests/docker runs it',
  'secret-tool store --label="Weir master key" service weir account master-key < ~/.local/state/weir/master.key':
    'needs a keyring of the session; keychain.test.ts runs one of its own',
};

/** Commands that a gateway on HTTP, which runs beside them, answers; in this order. */
const AT_A_GATEWAY: Readonly<Record<string, RegExp>> = {
  'curl http://127.0.0.1:8808/metrics -H "Authorization: Bearer $TOKEN"':
    /^weir_calls_total\{server="files"/mu,
  'weir ps':
    /^Gateway \d+, http at .*mcp\.json, up .*\n {2}SERVER +STATE +TOOLS +PING\n {2}files +connected/u,
  'weir ps --token': /, token=\S+, /u,
  'weir ps --watch': /^Gateway \d+/u,
  'weir history': /files +read_file +success/u,
  'weir history --server SERVER': /files +read_file +success/u,
  'weir logs files': /files is ready/u,
  'weir logs SERVER': /files is ready/u,
  'weir logs SERVER --follow': /files is ready/u,
  'weir disable SERVER': /'files' is disabled/u,
  'weir enable SERVER': /'files' is enabled/u,
  'weir restart SERVER': /'files' was restarted/u,
  'weir pause': /Calls are paused/u,
  'weir resume': /Calls are accepted again/u,
  'weir stop': /Gateway \d+ has stopped/u,
};

/** Commands that run on until they are stopped. */
const ENDLESS = / --(?:watch|follow)$/u;

/** Commands that need nothing beside the config, and what they print. */
const ALONE: Readonly<Record<string, RegExp>> = {
  'weir lock': /^Wrote 3 servers to .*weir\.lock\.json/u,
  'weir lock --config mcp.json': /^Wrote 3 servers to .*weir\.lock\.json/u,
  'weir new my-server': /^Wrote my-server: a server with one tool/u,
  'weir completion bash': /complete -F _weir weir/u,
  'source <(weir completion bash)': /^$/u,
  'weir help COMMAND': /^[\s\S]*Usage: weir serve /u,
  'openssl rand -base64 32': /^[A-Za-z\d+/]{43}=\n$/u,
};

const ALL = ['files__read_file', 'memory__search_nodes'];
/** Gateways on stdio, and what they list. */
const ON_STDIO: Readonly<Record<string, readonly string[]>> = {
  'weir --config FILE': ALL,
  'weir --config mcp.json --lazy': ALL,
  'weir --config mcp.json --group dev': ['memory__search_nodes'],
  'weir --group dev': ['memory__search_nodes'],
};

const ON_HTTP = ['weir serve', 'weir serve --config mcp.json'] as const;

/** Commands about the package: made, installed and started from its tarball. */
const PACKAGE = {
  pack: 'npm run build && npm pack -w mcp-weir',
  install: 'npm i -g ./mcp-weir-0.1.0.tgz',
  npxTarball: 'npx ./mcp-weir-0.1.0.tgz --config mcp.json',
  npx: 'npx mcp-weir --config mcp.json',
};

test('every documented command is run here, or says why not', () => {
  const shown = pages.flatMap((page) => commandsOf(page));
  const written = new Set([...shown, ...generated().filter((line) => !shown.some(hasCommandOf(line)))]);
  const run = [AT_A_GATEWAY, ALONE, ON_STDIO].flatMap((table) => Object.keys(table));
  const known = new Set([...run, ...ON_HTTP, ...Object.values(PACKAGE), ...Object.keys(NOT_RUN)]);
  expect([...written].filter((line) => !known.has(line))).toEqual([]);
  expect([...known].filter((line) => !written.has(line))).toEqual([]);
});

describe.concurrent('as it is documented', () => {
  test('a gateway on HTTP answers every documented command about it', async () => {
    const machine = new Machine();
    await using serve = machine.serve(ON_HTTP[1]);
    const { url, token } = await addressOf(serve);
    const variables = { TOKEN: token, PORT: new URL(url).port };
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'files__read_file', arguments: {} },
    };
    await eventually(async () => {
      const { stdout } = await machine.run(
        `curl -sS "${url}" -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream" -H "MCP-Protocol-Version: 2026-07-28" -H "Mcp-Method: tools/call" -H "Mcp-Name: files__read_file" -d '${JSON.stringify({ ...call, params: { ...call.params, ...modernMeta() } })}'`,
        variables,
      );
      return stdout.includes('files: read_file') || undefined;
    });
    for (const [line, prints] of Object.entries(AT_A_GATEWAY)) {
      const { code, stdout, stderr } = ENDLESS.test(line)
        ? await machine.runUntil(line, prints)
        : await machine.run(line.replace('127.0.0.1:8808', '127.0.0.1:$PORT'), variables);
      expect({ line, code, stderr: line.startsWith('curl') ? '' : stderr }).toEqual({
        line,
        code: 0,
        stderr: '',
      });
      expect([line, stdout]).toEqual([line, expect.stringMatching(prints)]);
    }
    expect((await serve.ended).code).toBe(0);
  });

  test('each documented way to start a gateway starts it', async () => {
    for (const [line, tools] of Object.entries(ON_STDIO)) {
      await using weir = new Machine().start(line);
      expect([line, await weir.tools()]).toEqual([line, tools]);
      expect(await weir.close()).toMatchObject({ code: 0 });
    }
    for (const line of ON_HTTP) {
      await using weir = new Machine().serve(line);
      expect((await fetch((await addressOf(weir)).url.replace('/mcp', '/healthz'))).status).toBe(200);
      weir.kill('SIGINT');
      expect([line, (await weir.ended).code]).toEqual([line, 0]);
    }
  });

  test('the other documented commands print what the docs promise', async () => {
    const machine = new Machine();
    for (const [line, prints] of Object.entries(ALONE)) {
      const { code, stdout, stderr } = await machine.run(line);
      expect({ line, code, stderr }).toEqual({
        line,
        code: 0,
        stderr: expect.not.stringMatching(/error|warn/iu) as string,
      });
      expect([line, stdout]).toEqual([line, expect.stringMatching(prints)]);
    }
  });

  test('the documented commands make, install and run the package', async () => {
    const machine = new Machine({ hasWeir: false });
    const { folder } = machine;
    // The build has run: another one would take the command away from tests that use it.
    const pack = `${PACKAGE.pack.replace('npm run build && ', '')} --pack-destination '${folder}'`;
    expect(await machine.run(pack, {}, root)).toMatchObject({ code: 0 });
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    writeFileSync(join(empty, 'mcp.json'), readFileSync(join(folder, 'mcp.json')));
    const tarball = PACKAGE.install.split('/').at(-1) ?? '';
    symlinkSync(join(folder, tarball), join(empty, tarball));
    expect(await machine.run(PACKAGE.install, {}, empty)).toMatchObject({ code: 0 });
    expect((await machine.run('weir --version', {}, empty)).stdout).toBe(`${VERSION}\n`);
    const lists = async (line: string): Promise<void> => {
      await using weir = machine.start(line, {}, empty);
      expect([line, await weir.tools()]).toEqual([line, ALL]);
    };
    await lists(PACKAGE.npxTarball);
    // As the name of a package it would be looked for at the registry, which does not have it yet.
    expect(await machine.run(`npm i ./${tarball}`, {}, empty)).toMatchObject({ code: 0 });
    await lists(PACKAGE.npx);
  });
});

/** Returns the commands of a page: the lines of its blocks for a shell, and the code in its sentences. */
function commandsOf(page: string): string[] {
  if (page === 'docs/commands.md') return [];
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = Array.from(text.matchAll(/^ *```(?:sh)?\n([\s\S]*?)^ *```$/gmu), ([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.split('\n')).flatMap(splitComment);
  const inline = Array.from(text.matchAll(/`([^`\n]+)`/gu), ([, code = '']) => code);
  const isCommand = new RegExp(`^(?:${PROGRAMS}) `, 'u');
  return [...lines, ...inline]
    .map((line) => line.trim())
    .filter((line) => isCommand.test(line) && !isOutput(line));
}

/** Returns the usage of every command; the page is generated from the command table. */
function generated(): string[] {
  const page = readFileSync(join(root, 'docs/commands.md'), 'utf8');
  return Array.from(page.matchAll(/^Usage: (weir .*?)(?: \[.*)?$/gmu), ([, usage = '']) => usage);
}

function hasCommandOf(line: string): (other: string) => boolean {
  const first = (text: string): string => text.split(' ', 2).join(' ');
  return (other) => first(other) === first(line);
}

/** Returns a line of a shell without its prompt and comment, and the command that the comment offers instead. */
function splitComment(line: string): string[] {
  const [command = '', comment = ''] = line.replace(/^\s*\$ /u, '').split(/\s+# /u);
  return [command, ...(comment.startsWith('or: ') ? [comment.slice('or: '.length)] : [])];
}

function isOutput(line: string): boolean {
  return line.startsWith('weir starts ');
}

/** The command line with values in place of its placeholders, and the config that a sentence leaves out. */
function filled(line: string): string {
  const text = line
    .replace('/home/me/mcp.json', 'mcp.json')
    .replace(/\bFILE\b/u, 'mcp.json')
    .replace(/\bSERVER\b/u, 'files')
    .replace(/\bCOMMAND\b/u, 'serve');
  const config = /^weir (?:serve|lock|--group)\b(?!.*--config)/u.test(text) ? ' --config mcp.json' : '';
  // The port of a user may be taken here.
  return `${text}${config}${text.startsWith('weir serve') ? ' --port 0' : ''}`;
}

/** A gateway on HTTP, which does not end with its input. */
class Served extends Weir {
  override async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGINT');
    await this.ended;
  }
}

/** A user's machine: a home, the command on its path, and the config of the README with tiny servers. */
class Machine {
  readonly folder = temporaryFolder();
  readonly #env: Record<string, string>;

  constructor({ hasWeir = true } = {}) {
    const [bins, home] = [join(this.folder, 'bin'), join(this.folder, 'home')];
    for (const folder of [bins, home]) mkdirSync(folder);
    const shim = (name: string, script: string): void => {
      writeFileSync(join(bins, name), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
      chmodSync(join(bins, name), 0o755);
    };
    shim('npm', npmScript());
    shim('npx', npmScript().replace('npm-cli.js', 'npx-cli.js'));
    if (hasWeir) shim('weir', bin('weir'));
    const prefix = join(this.folder, 'prefix');
    this.#env = {
      PATH: `${bins}:${prefix}/bin:${process.env['PATH'] ?? ''}`,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      npm_config_prefix: prefix,
      npm_config_offline: 'true',
      npm_config_yes: 'true',
    };
    writeFileSync(join(this.folder, 'mcp.json'), JSON.stringify(config()));
  }

  start(line: string, variables: Record<string, string> = {}, cwd = this.folder): Weir {
    const env = { ...this.#env, ...variables };
    return new Weir({ command: 'bash', args: ['-c', filled(line)], env, cwd });
  }

  serve(line: string): Served {
    return new Served({ command: 'bash', args: ['-c', filled(line)], env: this.#env, cwd: this.folder });
  }

  async run(line: string, variables?: Record<string, string>, cwd?: string): Promise<Ended> {
    await using weir = this.start(line, variables, cwd);
    weir.end();
    return await weir.ended;
  }

  /** Runs a command that goes on, until it has printed this; then stops it as Ctrl-C does. */
  async runUntil(line: string, prints: RegExp): Promise<Ended> {
    await using weir = this.start(`exec ${line}`);
    await eventually(() => Promise.resolve(prints.test(weir.lines.join('\n')) || undefined));
    weir.kill('SIGINT');
    return await weir.ended;
  }
}

/** The config of the README: each server is replaced by one that lists what the README names of it. */
function config(): object {
  const block = /```json\n([\s\S]*?)```/u.exec(README)?.[1] ?? '';
  const { mcpServers } = JSON.parse(block) as { mcpServers: Record<string, ServerEntry> };
  expect(Object.keys(mcpServers)).toEqual(['files', 'memory', 'search']);
  const own: Record<string, string[]> = {
    files: ['read_file'],
    memory: ['search_nodes', 'delete_entities'],
    search: [],
  };
  const replaced = Object.entries(mcpServers).map(
    ([key, { command: _c, args: _a, url: _u, ...settings }]) => {
      const server = serverWith(own[key] ?? [], key);
      const script = `console.error('${key} is ready');${server.args?.at(-1) ?? ''}`;
      return [key, { ...server, args: [...(server.args ?? []).slice(0, -1), script], ...settings }];
    },
  );
  return { mcpServers: Object.fromEntries(replaced) as object, groups: { dev: ['memory'] } };
}

/** Waits for the line that tells where a gateway is and what its token is. */
async function addressOf(serve: Weir): Promise<{ url: string; token: string }> {
  return eventually(() => {
    const [, url, token] = /(http:\S+) +token=(\S+)/u.exec(serve.lines.join('\n')) ?? [];
    return Promise.resolve(url === undefined || token === undefined ? undefined : { url, token });
  });
}
