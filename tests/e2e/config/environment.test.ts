// Variables, arguments and folders that servers get from config entries, and entries that start no server.
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  fixture,
  startWeir,
  temporaryFolder,
  type Json,
  type ServerEntry,
  type Weir,
} from '../../support/harness.ts';
import { verifies } from '../../verifies.ts';

/** Asks the server for the values that it was started with. */
async function told(
  weir: Weir,
  what: 'variables' | 'arguments' | 'folder',
  server = 'server',
): Promise<unknown> {
  const { result } = await weir.callTool(`${server}:${what}`);
  const content = result?.['structuredContent'] as Json | undefined;
  return content?.['value'];
}

async function variablesOf(server: Partial<ServerEntry>, env: Record<string, string>): Promise<Json> {
  await using weir = startWeir({ server: { ...fixture('environment'), ...server } }, { env });
  await weir.initialize();
  return (await told(weir, 'variables')) as Json;
}

function warnings({ stderr }: { stderr: string }): string[] {
  const texts = [...stderr.matchAll(/^\S+ warn (.*)$/gmu)].map(([, text = '']) => text);
  return texts.filter((text) => !text.includes('--separator __'));
}

describe('the environment of a server', () => {
  const safe = {
    LOGNAME: 'me',
    SHELL: '/bin/sh',
    TERM: 'dumb',
    USER: 'me',
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    TMPDIR: '/tmp',
    XDG_CONFIG_HOME: '/config',
    HTTPS_PROXY: 'http://proxy:1',
    no_proxy: 'localhost',
    SSL_CERT_FILE: '/certs.pem',
  };
  const secret = {
    AWS_SECRET_ACCESS_KEY: 's3cr3t',
    GITHUB_TOKEN: 's3cr3t',
    NODE_OPTIONS: '--no-warnings',
    WEIR_TOKEN: 's3cr3t',
    WEIR_STATE: '/tmp/weir-none',
  };

  verifies(
    'AGG-ENV-3',
    'a server gets a short safe list of variables and its own env, and nothing else',
    async () => {
      const variables = await variablesOf({ env: { MINE: 'yes', TZ: 'Asia/Tokyo' } }, { ...safe, ...secret });
      const { PATH, HOME, WEIR_CHAIN, WEIR_OWNER, ...others } = variables;
      expect(PATH).toBe(process.env['PATH']);
      expect(HOME).toMatch(/weir-e2e-/u);
      // Not a secret: by this mark the guard finds what a server has left behind.
      expect(WEIR_OWNER).toMatch(/^\S+$/u);
      // Nor this: by it a gateway knows those that it stands behind.
      expect(WEIR_CHAIN).toMatch(/^[0-9a-f]{16}$/u);
      expect(others).toEqual({ ...safe, TZ: 'Asia/Tokyo', MINE: 'yes' });
    },
  );

  verifies('AGG-ENV-3', '"inheritEnv" adds the named variables, but never those of the gateway', async () => {
    const inheritEnv = ['GITHUB_TOKEN', 'NOT_SET', 'WEIR_TOKEN'];
    const variables = await variablesOf({ inheritEnv }, { ...safe, ...secret });
    expect(variables).toMatchObject({ ...safe, GITHUB_TOKEN: 's3cr3t' });
    for (const name of ['AWS_SECRET_ACCESS_KEY', 'NOT_SET', 'WEIR_TOKEN', 'WEIR_STATE']) {
      expect(variables).not.toHaveProperty(name);
    }
  });

  verifies('AGG-ENV-3', '"inheritEnv": true passes all variables but those of the gateway', async () => {
    const variables = await variablesOf({ inheritEnv: true }, { ...safe, ...secret, ANY: 'thing' });
    expect(variables).toMatchObject({
      ...safe,
      ANY: 'thing',
      GITHUB_TOKEN: 's3cr3t',
      NODE_OPTIONS: '--no-warnings',
    });
    expect(Object.keys(variables).filter((name) => name.startsWith('WEIR_'))).toEqual([
      'WEIR_CHAIN',
      'WEIR_OWNER',
    ]);
  });
});

describe('variables in the config', () => {
  verifies(
    ['AGG-ENV-1', 'AGG-CFG-1'],
    'variables are expanded once in every string, and their values reach the server unchanged',
    async () => {
      const folder = realpathSync(temporaryFolder());
      mkdirSync(join(folder, 'work'));
      const environment = fixture('environment');
      const args = [
        '$ONE',
        '${TWO}',
        '${env:ONE}',
        '${NONE:-a b}',
        '$HOME/x',
        'a$b',
        '$',
        '$(id)',
        '; exit 1',
      ];
      const server = {
        command: '${NODE}',
        args: [...(environment.args ?? []), ...args],
        env: { NESTED: 'x-${TWO}-x', PASSWORD: '${EMPTY}' },
        cwd: '${FOLDER}/work',
      };
      const env = { NODE: process.execPath, FOLDER: folder, ONE: '1', TWO: '${ONE} $ONE', EMPTY: '' };
      await using weir = startWeir({ server }, { env, folder });
      await weir.initialize();
      expect(await told(weir, 'arguments')).toEqual([
        '1',
        '${ONE} $ONE',
        '1',
        'a b',
        `${folder}/x`,
        'a$b',
        '$',
        '$(id)',
        '; exit 1',
      ]);
      expect(await told(weir, 'variables')).toMatchObject({ NESTED: 'x-${ONE} $ONE-x', PASSWORD: '' });
      expect(await told(weir, 'folder')).toBe(join(folder, 'work'));
    },
  );
});

describe('a config that other hosts share', () => {
  verifies('AGG-CFG-4', 'a .jsonc config may have comments and trailing commas', async () => {
    const { command, args = [] } = fixture('revision-2024-11-05');
    const text = `// my servers
{
  "mcpServers": {
    /* the only one */
    "old": { "command": ${JSON.stringify(command)}, "args": ${JSON.stringify(args)}, }, // trailing
  },
}`;
    await using weir = startWeir(text, { file: 'mcp.jsonc' });
    expect(await weir.tools()).toEqual(['old:echo']);
    expect(warnings(await weir.close())).toEqual([]);
  });

  verifies('AGG-CFG-4', 'unknown keys of a config cause a warning only', async () => {
    const config = {
      inputs: [{ id: 'token', type: 'promptString' }],
      mcpServers: {
        old: {
          ...fixture('revision-2024-11-05'),
          type: 'stdio',
          autoApprove: ['echo'],
          enviroment: { A: '$NOT_SET' },
        },
      },
    };
    await using weir = startWeir(JSON.stringify(config, null, 1));
    expect(await weir.tools()).toEqual(['old:echo']);
    expect(warnings(await weir.close())).toMatchInlineSnapshot(`
      [
        "$: Unknown key ignored: "inputs"",
        "$.mcpServers.old (line 9): Unknown keys ignored: "autoApprove", "enviroment"",
      ]
    `);
  });

  verifies(
    'AGG-CFG-4',
    'other servers run without a container engine, and the log shows no secret',
    async () => {
      await using weir = startWeir(
        { old: fixture('revision-2024-11-05'), box: { image: 'example/server:1', env: { TOKEN: 's3cr3t' } } },
        {
          args: ['--keep-going', '--debug'],
          env: { DOCKER_HOST: `unix://${temporaryFolder()}/docker.sock` },
        },
      );
      expect(await weir.tools()).toEqual(['old:echo']);
      await weir.says(
        /Failed to spawn server 'box': the (?:command "docker" was not found|container engine cannot be reached)/u,
      );
      expect((await weir.close()).stderr).not.toContain('s3cr3t');
    },
  );

  verifies(['AGG-CFG-4', 'AGG-ENV-1'], 'disabled entries are neither started nor expanded', async () => {
    const off = { command: '$NOT_SET_ANYWHERE', args: ['${NOR_THIS}'] };
    await using weir = startWeir(
      {
        off: { ...off, disabled: true },
        old: fixture('revision-2024-11-05'),
        also: { ...off, enabled: false },
      },
      { args: ['--debug'] },
    );
    expect(await weir.tools()).toEqual(['old:echo']);
    expect(await weir.callTool('off:x')).toMatchObject({
      error: { message: "Tool not found: off:x (its server 'off' is not running)" },
    });
    const ended = await weir.close();
    expect(warnings(ended)).toEqual([]);
    expect(ended.stderr).not.toMatch(/\[(?:off|also)\]/u);
  });

  verifies('AGG-CFG-1', 'a config without servers starts with a warning', async () => {
    await using weir = startWeir({});
    expect(await weir.tools()).toEqual([]);
    const ended = await weir.close();
    expect(ended.code).toBe(0);
    expect(warnings(ended)).toEqual([
      'No servers to start: "mcpServers" is empty, or all its entries are disabled or skipped',
    ]);
  });
});

describe("the file of another host's project", () => {
  verifies(
    'AGG-CFG-4',
    'a config of VS Code starts its servers, and "envFile" applies to one of them only',
    async () => {
      const project = join(realpathSync(temporaryFolder()), 'project');
      mkdirSync(join(project, '.vscode'), { recursive: true });
      writeFileSync(join(project, '.env'), 'FROM_FILE="two words"\nBOTH=file\n');
      const { command, args } = fixture('environment');
      const config = `{
      // as VS Code writes it
      "inputs": [{ "id": "token", "type": "promptString", "password": true }],
      "servers": {
        "one": {
          "type": "stdio", "command": ${JSON.stringify(command)}, "args": ${JSON.stringify([...(args ?? []), '${workspaceFolder}'])},
          "envFile": "\${workspaceFolder}/.env", "env": { "BOTH": "entry" },
        },
        "two": { "type": "stdio", "command": ${JSON.stringify(command)}, "args": ${JSON.stringify(args)} },
      },
    }`;
      const folder = join(project, '.vscode');
      await using weir = startWeir(config, { folder, env: { HOME: '/nonexistent' } });
      await weir.initialize();
      expect(await told(weir, 'variables', 'one')).toMatchObject({ FROM_FILE: 'two words', BOTH: 'entry' });
      expect(await told(weir, 'arguments', 'one')).toEqual([project]);
      const others = (await told(weir, 'variables', 'two')) as Json;
      expect(others).not.toHaveProperty('FROM_FILE');
      expect(others).not.toHaveProperty('BOTH');
      expect(weir.stderr).not.toContain('Unknown key');
    },
  );
});
