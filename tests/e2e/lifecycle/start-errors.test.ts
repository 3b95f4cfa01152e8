// Errors and exit codes when the gateway cannot start.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  commandFor,
  fixture,
  runOver,
  runUntilFailed,
  runWeir,
  scripted,
  serverWith,
  startWeir,
  temporaryFolder,
  Weir,
  type Config,
  type Ended,
  type StartOptions,
} from '../../support/harness.ts';
import { commandLinesWith } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

/** All that is left of a failed start: the exit code and stderr, without what differs from run to run. */
function told({ code, stdout, stderr }: Ended, folder: string): string {
  expect(stdout).toBe('');
  const text = stderr.replaceAll(folder, '<folder>').replaceAll(/^\d{4}-\d\d-\d\dT\S+Z/gmu, '<time>');
  return `${text}exit ${code}`;
}

async function failure(config: Config, options: StartOptions = {}): Promise<string> {
  const folder = options.folder ?? temporaryFolder();
  return told(await runUntilFailed(config, { ...options, folder }), folder);
}

async function refused(...args: string[]): Promise<string> {
  const folder = temporaryFolder();
  return told(await runWeir(args, { folder }), folder);
}

/** A client that has not waited for the servers. */
const requests = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {} },
  },
  { jsonrpc: '2.0', id: 'list', method: 'tools/list' },
  { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'ok:echo' } },
];
const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');

const linux = process.platform === 'linux' ? undefined : 'finds processes through /proc';

describe.concurrent('wrong usage', () => {
  verifies('AGG-CLI-1', 'the command without --config exits with 2 and its usage', async ({ expect }) => {
    expect(await refused()).toMatchInlineSnapshot(`
      "--config is missing: it names the file with your servers

      Usage: weir --config FILE [options]
      Try 'weir help' for commands and options, or 'weir serve --demo'.
      exit 2"
    `);
  });

  verifies('AGG-CLI-1', 'an unknown option exits with 2 and names the nearest option', async ({ expect }) => {
    expect(await refused('--config', 'mcp.json', '--seperator', '__')).toMatchInlineSnapshot(`
      "Unknown option: --seperator (did you mean --separator?)

      Usage: weir --config FILE [options]
      Try 'weir help' for commands and options, or 'weir serve --demo'.
      exit 2"
    `);
  });

  verifies('AGG-SEP-1', 'an empty separator exits with 2', async ({ expect }) => {
    expect(await refused('--config', 'mcp.json', '--separator', '')).toMatchInlineSnapshot(`
      "Separator cannot be empty. Use --separator <chars> to specify a separator (default: "__")

      Usage: weir --config FILE [options]
      Try 'weir help' for commands and options, or 'weir serve --demo'.
      exit 2"
    `);
  });

  verifies('AGG-SEP-1', 'a separator with a space exits with 2', async ({ expect }) => {
    expect(await refused('--config', 'mcp.json', '--separator', 'a b')).toMatchInlineSnapshot(`
      "Separator cannot contain whitespace. Use non-whitespace characters like "__" or "-"

      Usage: weir --config FILE [options]
      Try 'weir help' for commands and options, or 'weir serve --demo'.
      exit 2"
    `);
  });
});

describe.concurrent('the config file', () => {
  verifies('AGG-CFG-3', 'the error for a missing config file names the whole path', async ({ expect }) => {
    expect(await refused('--config', 'no-such-file.json')).toMatchInlineSnapshot(`
      "Config file not found: <folder>/no-such-file.json
      Check what follows --config.
      Nothing was started.
      exit 1"
    `);
  });

  verifies('AGG-CFG-3', 'a directory as the config file is an error', async ({ expect }) => {
    expect(await refused('--config', '.')).toMatchInlineSnapshot(`
      "Config file not found: <folder> is a directory; name the file in it
      Check what follows --config.
      Nothing was started.
      exit 1"
    `);
  });

  verifies('AGG-CFG-3', 'an empty config file is an error with an example', async ({ expect }) => {
    expect(await failure('')).toMatchInlineSnapshot(`
      "Invalid JSON in <folder>/mcp.json, line 1, column 1: The file is empty: write at least { "mcpServers": {} }
      Nothing was started.
      exit 1"
    `);
  });

  verifies(
    'AGG-CFG-3',
    'a config file that is not UTF-8 is an error with line and column',
    async ({ expect }) => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'latin.json'), Buffer.from('{"mcpServers":\n{"caf\u00E9":{}}}', 'latin1'));
      expect(told(await runWeir(['--config', 'latin.json'], { folder }), folder)).toMatchInlineSnapshot(`
      "Invalid JSON in <folder>/latin.json, line 2, column 6: The file is not UTF-8 text: save it as UTF-8
      Nothing was started.
      exit 1"
    `);
    },
  );

  verifies(
    'AGG-CFG-3',
    'a trailing comma in a .json file is an error with line and column',
    async ({ expect }) => {
      const text = '{\n  "mcpServers": {\n    "files": { "command": "npx", },\n  }\n}\n';
      expect(await failure(text)).toMatchInlineSnapshot(`
      "Invalid JSON in <folder>/mcp.json, line 3, column 32: Trailing comma before }: remove it (only a .jsonc file may have one)
      Nothing was started.
      exit 1"
    `);
    },
  );

  verifies('AGG-CFG-2', 'a config without mcpServers is an error with an example', async ({ expect }) => {
    expect(await failure('{ "mcpServer": {} }')).toMatchInlineSnapshot(`
      "Invalid config: 1 mistake in <folder>/mcp.json
        $.mcpServers
          Missing required field: mcpServers; write "mcpServers": { "files": { "command": "npx" } }
        note: $: Unknown key ignored: "mcpServer" (did you mean "mcpServers"?)
      Nothing was started.
      exit 1"
    `);
  });

  verifies(
    ['AGG-CFG-2', 'AGG-CFG-4'],
    "a mistake under another host's word for mcpServers is an error with its path",
    async ({ expect }) => {
      expect(await failure('{ "servers": { "files": { "comand": "npx" } } }')).toMatchInlineSnapshot(`
      "Invalid config: 1 mistake in <folder>/mcp.json
        $.servers.files.command (line 1)
          Missing or invalid command: write "command": "npx" for a program, or "url" or "image" in its place
        note: $.servers.files (line 1): Unknown key ignored: "comand" (did you mean "command"?)
      Nothing was started.
      exit 1"
    `);
    },
  );

  verifies(
    'MANAGED-2',
    "a volume that hands the engine's socket to a container is an error, also without a socket",
    async ({ expect }) => {
      const dockerConfig = { image: 'mcp/time', containerName: 'time', volumes: ['/var/run/docker.sock:/x'] };
      expect(await failure(JSON.stringify({ mcpServers: { time: { dockerConfig } } })))
        .toMatchInlineSnapshot(`
      "Invalid config: 1 mistake in <folder>/mcp.json
        $.mcpServers.time.dockerConfig.volumes[0] (line 1)
          This volume would expose the container engine (/run/docker.sock) to the container: choose a smaller folder, or write "allowUnsafeMounts": true beside "volumes"
      Nothing was started.
      exit 1"
    `);
    },
  );

  verifies(
    ['AGG-CFG-2', 'AGG-CFG-3'],
    'the start reports all mistakes of a config, and no values',
    async ({ expect }) => {
      const text = `{
  "mcpServers": {
    "files": { "command": "npx", "args": "-y s3cr3t" },
    "git": { "comand": "s3cr3t" },
    "my db": { "command": "npx", "env": { "PORT": 5432, "PASSWORD": "s3cr3t" } },
    "my db": { "command": "npx" }
  }
}`;
      const shown = await failure(text);
      expect(shown).not.toContain('s3cr3t');
      expect(shown).toMatchInlineSnapshot(`
      "Invalid config: 3 mistakes in <folder>/mcp.json
        $.mcpServers.files.args (line 3)
          args must be an array of strings: write "args": ["--port", "8080"]
        $.mcpServers.git.command (line 4)
          Missing or invalid command: write "command": "npx" for a program, or "url" or "image" in its place
        $.mcpServers["my db"] (line 5)
          Key written twice, on lines 5 and 6: keep one of them
        note: $.mcpServers.git (line 4): Unknown key ignored: "comand" (did you mean "command"?)
      Nothing was started.
      exit 1"
    `);
    },
  );

  verifies(
    'AGG-ENV-2',
    'the start names all variables that are not set, with their places',
    async ({ expect }) => {
      const entry = {
        command: 'npx',
        args: ['${DB_TOOL}'],
        env: { URL: 'postgres://me:${DB_PASSWORD}@$DB_HOST/db' },
      };
      const text = await failure(
        { postgres: entry, git: { command: '$DB_TOOL' } },
        { env: { DB_HOST: 's3cr3t' } },
      );
      expect(text).not.toContain('s3cr3t');
      expect(text).not.toContain('postgres://me');
      expect(text).toMatchInlineSnapshot(`
      "Missing environment variable(s): DB_TOOL, DB_PASSWORD
        DB_TOOL in mcpServers.postgres.args[0]
        DB_PASSWORD in mcpServers.postgres.env.URL
        DB_TOOL in mcpServers.git.command
      Set them where the gateway is started (under a host: in the "env" of its own entry),
      or write a default as in \${NAME:-default}.
      Nothing was started.
      exit 1"
    `);
    },
  );
});

describe.concurrent('a server that fails to start', () => {
  verifies('AGG-CHILD-2', 'the start fails for a command that is not found', async ({ expect }) => {
    expect(await failure({ gone: { command: 'no-such-program', args: ['s3cr3t'] } })).toMatchInlineSnapshot(`
      "Failed to spawn server 'gone': command not found: "no-such-program"; check the spelling, install it, or give its full path (a host's PATH is often shorter than a shell's)
      All servers were stopped. Fix 'gone', or start without it: --keep-going
      exit 1"
    `);
  });

  verifies('AGG-CHILD-2', 'the start fails for a command whose path does not exist', async ({ expect }) => {
    expect(await failure({ gone: { command: '/no/such/program' } })).toMatchInlineSnapshot(`
      "Failed to spawn server 'gone': command not found: "/no/such/program"; check the path
      All servers were stopped. Fix 'gone', or start without it: --keep-going
      exit 1"
    `);
  });

  verifies('AGG-CHILD-2', 'the start fails for a command that contains its arguments', async ({ expect }) => {
    expect(await failure({ files: { command: 'node /srv/files.js' } })).toMatchInlineSnapshot(`
      "Failed to spawn server 'files': command not found: "node /srv/files.js"; write its arguments in "args", or check the path
      All servers were stopped. Fix 'files', or start without it: --keep-going
      exit 1"
    `);
  });

  verifies.skipIf(linux)(
    'AGG-CHILD-2',
    'the start fails without "undefined" in its error when too many files are open',
    async () => {
      const { args, command, ...rest } = commandFor({ e: fixture('echo') });
      for (let limit = 19; limit < 32; limit++) {
        const script = `ulimit -n ${limit}; exec "$@"`;
        await using weir = new Weir({
          ...rest,
          command: '/bin/sh',
          args: ['-c', script, 'sh', command, ...args],
        });
        weir.end(input);
        expect((await weir.ended).stderr).not.toContain('undefined');
      }
    },
  );

  verifies('AGG-CHILD-2', 'the start fails for a command that is not executable', async ({ expect }) => {
    const folder = temporaryFolder();
    const command = join(folder, 'server.sh');
    writeFileSync(command, '#!/bin/sh\n');
    expect(await failure({ locked: { command } }, { folder })).toMatchInlineSnapshot(`
      "Failed to spawn server 'locked': not executable: "<folder>/server.sh"; allow it with chmod +x or name a program
      All servers were stopped. Fix 'locked', or start without it: --keep-going
      exit 1"
    `);
  });

  verifies('AGG-CHILD-2', 'the start fails for a script whose interpreter is missing', async ({ expect }) => {
    const folder = temporaryFolder();
    const command = join(folder, 'server.sh');
    writeFileSync(command, '#!/no/such/shell\n');
    chmodSync(command, 0o755);
    expect(await failure({ odd: { command } }, { folder })).toMatchInlineSnapshot(`
      "Failed to spawn server 'odd': "<folder>/server.sh" exists, but the interpreter in its first line does not; install that or correct the line
      All servers were stopped. Fix 'odd', or start without it: --keep-going
      exit 1"
    `);
  });

  verifies('AGG-CHILD-2', 'the start fails for a "cwd" that does not exist', async ({ expect }) => {
    expect(await failure({ files: { ...fixture('echo'), cwd: '/no/such/folder' } })).toMatchInlineSnapshot(`
      "Failed to spawn server 'files': working directory does not exist: "/no/such/folder"; create it or correct "cwd"
      All servers were stopped. Fix 'files', or start without it: --keep-going
      exit 1"
    `);
  });

  verifies(
    'AGG-CHILD-2',
    'the start shows the stderr of a server that exits with code 3',
    async ({ expect }) => {
      expect(await failure({ db: fixture('exit-at-start') })).toMatchInlineSnapshot(`
      "<time> info [db] exit-at-start: the database is not there
      Server 'db' failed during initialization: it exited with code 3
        stderr | exit-at-start: the database is not there
      All servers were stopped. Fix 'db', or start without it: --keep-going
      exit 1"
    `);
    },
  );

  verifies('AGG-CHILD-2', 'the start fails for a server that is killed', async ({ expect }) => {
    expect(await failure({ db: scripted("process.kill(process.pid, 'SIGKILL')") })).toMatchInlineSnapshot(`
      "Server 'db' failed during initialization: it was killed by SIGKILL
      All servers were stopped. Fix 'db', or start without it: --keep-going
      exit 1"
    `);
  });

  verifies.slow('AGG-CHILD-2', 'the start fails for a server that never answers', async ({ expect }) => {
    expect(await failure({ mute: { ...fixture('silent'), startupTimeout: 2000 } })).toMatchInlineSnapshot(`
      "Server 'mute' failed during initialization: it did not answer the handshake within 2 s; if it needs longer, set "startupTimeout" (in milliseconds) in its entry
      All servers were stopped. Fix 'mute', or start without it: --keep-going
      exit 1"
    `);
  });

  verifies.slow(
    'AGG-CHILD-2',
    'the start shows the stderr of a server that waits for an answer from a user',
    async ({ expect }) => {
      const asks = scripted("process.stderr.write('Ok to proceed? (y)'); process.stdin.resume()");
      expect(await failure({ npx: { ...asks, startupTimeout: 2000 } })).toMatchInlineSnapshot(`
      "<time> info [npx] Ok to proceed? (y)
      Server 'npx' failed during initialization: it did not answer the handshake within 2 s; if it needs longer, set "startupTimeout" (in milliseconds) in its entry
        stderr | Ok to proceed? (y)
      All servers were stopped. Fix 'npx', or start without it: --keep-going
      exit 1"
    `);
    },
  );

  verifies.slow(
    'AGG-CHILD-2',
    'the start shows the stdout of a server that serves HTTP instead',
    async ({ expect }) => {
      const web = scripted("console.log('\\nListening on http://localhost:3000'); process.stdin.resume()");
      expect(await failure({ web: { ...web, startupTimeout: 2000 } })).toMatchInlineSnapshot(`
      "Server 'web' failed during initialization: it did not answer the handshake within 2 s; if it needs longer, set "startupTimeout" (in milliseconds) in its entry
        stdout | Listening on http://localhost:3000
      All servers were stopped. Fix 'web', or start without it: --keep-going
      exit 1"
    `);
    },
  );

  verifies.slow(
    'AGG-CHILD-2',
    'the start fails for a server that answers only the handshake',
    async ({ expect }) => {
      const options = { args: ['--startup-timeout', '2s'] };
      expect(await failure({ mute: fixture('silent', 'tools/list') }, options)).toMatchInlineSnapshot(`
      "Server 'mute' failed during initialization: it did not answer tools/list within 2 s; if it needs longer, set "startupTimeout" (in milliseconds) in its entry
      All servers were stopped. Fix 'mute', or start without it: --keep-going
      exit 1"
    `);
    },
  );

  verifies(
    'AGG-CHILD-2',
    'the start escapes the error of a server that refuses the handshake',
    async ({ expect }) => {
      const refuses = scripted(`
      import { rpcError, serve } from 'stdio';
      serve({ name: 'no', on: { initialize() { throw rpcError(-32000, 'licence\\u001b[31m expired\\nsince May'); } } });
    `);
      expect(await failure({ no: refuses })).toMatchInlineSnapshot(`
      "Server 'no' failed during initialization: it answered with the error -32000: licence\\x1b[31m expired\\x0asince May
      All servers were stopped. Fix 'no', or start without it: --keep-going
      exit 1"
    `);
    },
  );

  verifies(
    'AGG-CHILD-2',
    'the start fails for a server that refuses to list its tools',
    async ({ expect }) => {
      const refuses = scripted(`
      import { rpcError, serve } from 'stdio';
      serve({ name: 'no', on: { 'tools/list'() { throw rpcError(-32603, 'no database'); } } });
    `);
      expect(await failure({ no: refuses })).toMatchInlineSnapshot(`
      "Server 'no' failed during initialization: it answered with the error -32603: no database
      All servers were stopped. Fix 'no', or start without it: --keep-going
      exit 1"
    `);
    },
  );

  verifies('AGG-CHILD-2', 'a server that prints a banner on stdout first starts', async ({ expect }) => {
    await using weir = startWeir({ babble: fixture('noise-on-stdout') });
    expect(await weir.tools()).toEqual(['babble:echo']);
  });

  verifies(
    'AGG-CHILD-2',
    'a server without tools runs once it has answered its handshake',
    async ({ expect }) => {
      await using weir = startWeir({ words: fixture('no-tools') });
      expect(await weir.tools()).toEqual([]);
      const { result } = await weir.request('prompts/list');
      expect(result).toMatchObject({ prompts: [{ name: 'words:greet' }] });
    },
  );
});

describe.concurrent('names that collide', () => {
  verifies(
    'AGG-SEP-2',
    'the start fails for names that collide because a key contains the separator',
    async ({ expect }) => {
      const config = { a: serverWith(['b:echo', 'own']), 'a:b': serverWith(['echo']) };
      expect(await failure(config, { args: ['--separator', ':'] })).toMatchInlineSnapshot(`
      "Name 'a:b:echo' begins with the key of server 'a:b', so 'b:echo' of server 'a' cannot have it
      Rename one of the servers in the config, or choose another --separator.
      All servers have been stopped.
      exit 1"
    `);
    },
  );

  verifies(
    'AGG-SEP-4',
    'the start fails for names that collide because there is no prefix',
    async ({ expect }) => {
      const config = { a: fixture('echo'), b: fixture('echo'), c: fixture('revision-2024-11-05') };
      expect(await failure(config, { args: ['--no-prefix'] })).toMatchInlineSnapshot(`
      "Two servers want the name 'echo': 'a' and 'b'
      Two servers want the name 'add': 'a' and 'b'
      Two servers want the name 'fail': 'a' and 'b'
      Two servers want the name 'error': 'a' and 'b'
      Two servers want the name 'raw': 'a' and 'b'
      … and 4 more
      Remove --no-prefix, so that each name begins with the key of its server.
      All servers have been stopped.
      exit 1"
    `);
    },
  );

  verifies(
    ['AGG-SEP-2', 'AGG-CHILD-3'],
    '--keep-going leaves a colliding name to the server whose key begins it',
    async () => {
      await using weir = startWeir(
        { a: serverWith(['b:echo', 'own']), 'a:b': serverWith(['echo']) },
        { args: ['--keep-going'] },
      );
      expect(await weir.tools()).toEqual(['a:own', 'a:b:echo']);
      await weir.says(
        "Name 'a:b:echo' begins with the key of server 'a:b', so 'b:echo' of server 'a' cannot have it",
      );
      await weir.says("Weir leaves it out, even while 'a:b' is not running");
    },
  );
});

describe.concurrent('a failed start', () => {
  verifies(
    ['AGG-CHILD-3', 'AGG-REG-3'],
    'a failed start answers waiting requests, then exits with 1',
    async ({ expect }) => {
      const { code, stdout } = await runOver(
        { ok: fixture('echo'), db: fixture('exit-at-start') },
        { input },
      );
      expect(code).toBe(1);
      const [greeting, ...answers] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { id: unknown });
      expect(greeting).toMatchObject({ id: 1, result: { serverInfo: { name: 'mcp-simple-aggregator' } } });
      // The stderr of the server is on stderr only.
      const message = "Server 'db' failed during initialization: it exited with code 3";
      expect(answers).toEqual(
        ['list', 3].map((id) => ({ jsonrpc: '2.0', id, error: { code: -32000, message } })),
      );
    },
  );

  verifies.skipIf(linux).slow('AGG-CHILD-3', 'a failed start leaves no server running', async () => {
    const token = `token-${process.pid}-${Date.now()}`;
    const config = {
      ok: fixture('echo', token),
      slow: fixture('silent', '', token),
      stubborn: fixture('ignores-sigterm', token),
      db: fixture('exit-at-start', '3', token),
    };
    await using weir = startWeir(config);
    await weir.initialize();
    const { code, stderr } = await weir.ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("Server 'db' failed") as string,
    });
    expect(commandLinesWith(token)).toEqual([]);
  });

  verifies(
    ['AGG-CLI-2', 'AGG-CHILD-3'],
    'a failed start writes its reason to the log file and stderr',
    async ({ expect }) => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, 'logs'));
      const args = ['--log-file', join(folder, 'logs', 'weir.log')];
      const { code, stderr } = await runUntilFailed(
        { gone: { command: 'no-such-program' } },
        { folder, args },
      );
      const text = `Failed to spawn server 'gone': command not found: "no-such-program"`;
      expect(code).toBe(1);
      expect(stderr).toContain(text);
      expect(readLog(folder)).toMatch(new RegExp(`^\\S+Z error ${text}`, 'mu'));
    },
  );
});

function readLog(folder: string): string {
  return readFileSync(join(folder, 'logs', 'weir.log'), 'utf8');
}
