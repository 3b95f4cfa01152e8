import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { ConfigError } from '../errors.ts';
import { describeConfigError } from './describe-error.ts';
import { type LoadedConfig, loadConfig } from './load.ts';
import { redactor } from './redact.ts';

const home = mkdtempSync(join(tmpdir(), 'weir-hosts-'));
afterAll(() => rmSync(home, { recursive: true }));

/** Writes a file below the home folder and loads it. */
function load(path: string, content: object | string, env: Record<string, string> = {}): LoadedConfig {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return loadConfig(file, { env: { HOME: home, ...env } });
}

function refusal(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('The config was accepted');
}

const local = { command: 'npx', args: ['-y', 'server'], env: {} };

describe('the config of another host', () => {
  const files: [
    host: string,
    path: string,
    content: object | string,
    servers: object,
    warnings?: string[],
  ][] = [
    [
      'Claude Desktop',
      'claude_desktop_config.json',
      { mcpServers: { a: { command: 'npx', args: ['-y', 'server'] } }, globalShortcut: 'Ctrl+Space' },
      { a: local },
      ['$: Unknown key ignored: "globalShortcut"'],
    ],
    [
      'Claude Code',
      'project/.mcp.json',
      {
        mcpServers: {
          a: { type: 'stdio', command: 'npx', args: ['-y', 'server'], env: {} },
          b: { type: 'http', url: '${BASE:-https://x.example}/mcp', headers: { A: 'b' } },
        },
      },
      {
        a: { type: 'stdio', ...local },
        b: { type: 'http', url: 'https://x.example/mcp', headers: { A: 'b' }, args: [], env: {} },
      },
    ],
    [
      'Cursor',
      'project/.cursor/mcp.json',
      { mcpServers: { a: { command: 'npx', args: ['-y', '${workspaceFolder}${/}s', '${userHome}'] } } },
      { a: { ...local, args: ['-y', join(home, 'project', 's'), home] } },
    ],
    [
      'VS Code',
      'project/.vscode/mcp.json',
      `{ // the servers of this project
          "inputs": [{ "id": "unused", "type": "promptString" }],
          "servers": {
            "a": { "type": "stdio", "command": "npx", "args": ["-y", "server"], },
            "b": { "type": "http", "url": "https://x.example/mcp" },
          },
        }`,
      {
        a: { type: 'stdio', ...local },
        b: { type: 'http', url: 'https://x.example/mcp', args: [], env: {} },
      },
    ],
    [
      'VS Code, in its settings',
      'project/.vscode/settings.json',
      '{ "editor.tabSize": 2, "mcp": { "inputs": [], "servers": { "a": { "command": "npx", "args": ["-y", "server"] } }, }, }',
      { a: local },
      ['$: Unknown key ignored: "editor.tabSize"'],
    ],
    [
      'Windsurf',
      'mcp_config.json',
      { mcpServers: { a: { serverUrl: 'https://x.example/mcp', disabledTools: ['x'] } } },
      { a: { url: 'https://x.example/mcp', disabledTools: ['x'], args: [], env: {} } },
    ],
    [
      'Gemini CLI',
      'project/.gemini/settings.json',
      `{
          // as its own editor leaves it
          "general": {}, "ui": {}, "mcp": { "allowed": ["a"] },
          "mcpServers": { "a": { "httpUrl": "https://x.example/mcp", "timeout": 5000, "trust": true } }
        }`,
      { a: { url: 'https://x.example/mcp', timeout: 5000, trust: true, args: [], env: {} } },
      [
        '$: Unknown keys ignored: "general", "ui", "mcp"',
        '$.mcpServers.a (line 4): Unknown key ignored: "trust"',
      ],
    ],
    [
      'Cline',
      'cline_mcp_settings.json',
      {
        mcpServers: {
          a: { type: 'streamableHttp', url: 'https://x.example/mcp', autoApprove: [], disabled: false },
        },
      },
      {
        a: {
          type: 'streamable-http',
          url: 'https://x.example/mcp',
          disabled: false,
          autoApprove: [],
          args: [],
          env: {},
        },
      },
      ['$.mcpServers.a (line 3): Unknown key ignored: "autoApprove"'],
    ],
    [
      'Copilot',
      'mcp-config.json',
      { mcpServers: { a: { type: 'local', command: 'npx', args: ['-y', 'server'], tools: ['*'] } } },
      { a: { type: 'stdio', ...local, tools: ['*'] } },
    ],
    [
      'Zed',
      'settings.json',
      `{ "theme": "One Dark", /* its servers */ "context_servers": {
          "a": { "source": "custom", "command": "npx", "args": ["-y", "server"] },
          "b": { "command": { "path": "npx", "args": ["-y", "server"], "env": {} } },
        } }`,
      { a: { source: 'custom', ...local }, b: local },
      ['$: Unknown key ignored: "theme"', '$.context_servers.a (line 2): Unknown key ignored: "source"'],
    ],
    [
      'opencode',
      'opencode.json',
      {
        $schema: 'https://opencode.ai/config.json',
        mcp: {
          a: {
            type: 'local',
            command: ['npx', '-y', 'server'],
            environment: { A: '{env:A_KEY}' },
            enabled: true,
          },
          b: { type: 'remote', url: 'https://x.example/mcp' },
        },
      },
      {
        a: { type: 'stdio', command: 'npx', args: ['-y', 'server'], env: { A: 'b' }, enabled: true },
        b: { type: 'http', url: 'https://x.example/mcp', args: [], env: {} },
      },
    ],
  ];
  for (const [host, path, content, servers, warnings = []] of files)
    verifies('AGG-CFG-4', `the config of ${host} is understood`, () => {
      const loaded = load(path, content, { A_KEY: 'b' });
      expect(loaded.config.mcpServers).toEqual(servers);
      expect(loaded.warnings.map((text) => text.replace(/^\$ \(line \d+\)/u, '$'))).toEqual(warnings);
      expect(Object.keys(loaded.unexpanded)).toEqual(Object.keys(servers));
    });

  const mistakes: [what: string, content: object, place: string, message: string][] = [
    [
      'a mistake in a file of VS Code',
      { servers: { a: { command: 1 } } },
      '$.servers.a.command (line 4)',
      'Missing or invalid command',
    ],
    [
      'a wrong address under another key',
      { mcpServers: { a: { httpUrl: 'x.example' } } },
      '$.mcpServers.a.httpUrl (line 4)',
      'url must begin with http:// or https://',
    ],
    [
      'two spellings of one key',
      { mcpServers: { a: { serverUrl: 'https://x', url: 'https://y' } } },
      '$.mcpServers.a.serverUrl (line 4)',
      '"serverUrl" means the same as "url": keep one of them',
    ],
    [
      'a command and an address',
      { mcp: { servers: { a: { command: 'x', httpUrl: 'https://y' } } } },
      '$.mcp.servers.a (line 4)',
      'A server has exactly one of command, url',
    ],
  ];
  for (const [what, content, place, message] of mistakes)
    verifies(
      ['AGG-CFG-2', 'AGG-CFG-4'],
      `a config with ${what} is refused with the keys of that file`,
      () => {
        const error = refusal(() => load('wrong.json', content));
        expect(error.message.replace(/line \d+/u, 'line 4')).toContain(`  ${place}\n    ${message}`);
      },
    );

  verifies(
    'AGG-CFG-4',
    'a config with servers under two keys uses "mcpServers" and warns of the other',
    () => {
      const { config, warnings } = load('both.json', { mcpServers: { a: local }, servers: { b: local } });
      expect(Object.keys(config.mcpServers)).toEqual(['a']);
      expect(warnings).toEqual([
        '$.servers (line 12): Ignored, because the file has "mcpServers": move the servers there',
      ]);
    },
  );

  verifies('AGG-CFG-3', 'comments in a .json file that belongs to no known host are an error', () => {
    const error = refusal(() => load('mcp.json', '{ // x\n"mcpServers": {} }'));
    expect(error.code).toBe('invalid_json');
  });
});

describe('variables in the config of another host', () => {
  const server = (arg: string): object => ({ mcpServers: { a: { command: 'x', args: [arg] } } });

  verifies('AGG-CFG-4', '${input:…} is an error that says how to pass the value', () => {
    const error = refusal(() => load('mcp.json', server('--key=${input:github-token}')));
    expect(error.code).toBe('missing_env_var');
    expect(describeConfigError(error)).toBe(
      [
        'Missing environment variable(s): input:github-token',
        '  input:github-token in mcpServers.a.args[0]',
        'A gateway cannot ask for ${input:github-token}: put the value into an environment variable, for example GITHUB_TOKEN, and write ${GITHUB_TOKEN} in its place.',
        'Set them where the gateway is started (under a host: in the "env" of its own entry),',
        'or write a default as in ${NAME:-default}.',
        'Nothing was started.',
      ].join('\n'),
    );
  });

  verifies('AGG-CFG-4', 'a variable that only another host can look up is an error', () => {
    const error = refusal(() => load('mcp.json', server('${file:/run/secrets/token}')));
    expect(error.message).toContain('A gateway does not know ${file:…}');
    const opencode = { mcp: { a: { type: 'local', command: ['x', '{file:~/token}'] } } };
    expect(refusal(() => load('opencode.json', opencode)).message).toContain('does not know ${file:…}');
  });

  const workspaces: [path: string, workspace: string | undefined][] = [
    ['project/.vscode/mcp.json', 'project'],
    ['project/.cursor/mcp.json', 'project'],
    ['project/.mcp.json', 'project'],
    ['project/mcp.json', 'project'],
    ['mcp.json', undefined],
    ['.cursor/mcp.json', undefined],
    ['.config/Code/User/mcp.json', undefined],
    ['Library/Application Support/Code/User/mcp.json', undefined],
    ['AppData/Roaming/Code/User/mcp.json', undefined],
  ];
  for (const [path, workspace] of workspaces)
    verifies('AGG-CFG-4', `\${workspaceFolder} in ${path} is ${workspace ?? 'not known'}`, () => {
      const text = '${workspaceFolder}|${workspaceFolderBasename}';
      if (workspace !== undefined) {
        const { config } = load(path, server(text));
        expect(config.mcpServers['a']?.args).toEqual([`${join(home, workspace)}|${workspace}`]);
        return;
      }
      const error = refusal(() => load(path, server(text)));
      expect(error.message).toContain(
        'This file belongs to no workspace: write the path of the folder instead of ${workspaceFolder}.',
      );
      const { config } = load(path, server('${workspaceFolder}'), { workspaceFolder: '/w' });
      expect(config.mcpServers['a']?.args).toEqual(['/w']);
    });
});

describe('envFile', () => {
  const server = (entry: object): object => ({ mcpServers: { a: { command: 'x', ...entry } } });
  writeFileSync(join(home, '.env'), 'export TOKEN="from file"\n# a comment\nEMPTY=\nBOTH=file\nPRICE=$5\n');

  verifies(
    'AGG-CFG-4',
    'envFile gives its values to the process of its server, and "env" overrides them',
    () => {
      mkdirSync(join(home, 'project'), { recursive: true });
      writeFileSync(join(home, 'project', '.env'), 'WHERE=project\n');
      const { config, unexpanded } = load('mcp.json', server({ envFile: '.env', env: { BOTH: 'entry' } }));
      expect(config.mcpServers['a']).toEqual({
        command: 'x',
        args: [],
        env: { TOKEN: 'from file', EMPTY: '', BOTH: 'entry', PRICE: '$5' },
      });
      expect(JSON.stringify(unexpanded)).not.toContain('from file');
      expect(redactor(() => config)('it said: from file')).toBe('it said: [hidden]');
      const inProject = load('project/.vscode/mcp.json', server({ envFile: '${workspaceFolder}/.env' }));
      expect(inProject.config.mcpServers['a']?.env).toEqual({ WHERE: 'project' });
    },
  );

  verifies('AGG-CFG-4', 'invalid lines of an envFile are warned of by number, without their text', () => {
    const lines = [
      'A=1',
      'sk-secret',
      '# note',
      '',
      'KEY="one',
      'two',
      'three"',
      'export B',
      "C='x' # y",
      '  # z',
    ];
    writeFileSync(join(home, 'odd.env'), lines.join('\r\n'));
    const { config, warnings } = load('mcp.json', server({ envFile: 'odd.env' }));
    expect(config.mcpServers['a']?.env).toMatchObject({ A: '1', C: 'x' });
    expect(warnings.join()).toContain('are ignored (line 2, line 8): write NAME=value');
    expect(warnings.join()).not.toContain('secret');
  });

  verifies('AGG-CFG-4', 'a missing envFile is an error with its path, unless its server is disabled', () => {
    const missing = server({ envFile: 'no/.env' });
    const error = refusal(() => load('mcp.json', missing));
    expect(error).toMatchObject({
      code: 'invalid_schema',
      details: { errors: [{ path: '$.mcpServers.a.envFile' }] },
    });
    expect(error.message).toContain(`envFile cannot be read: there is no file ${join(home, 'no', '.env')}`);
    const folder = refusal(() => load('mcp.json', server({ envFile: '.' })));
    expect(folder.message).toContain(`envFile cannot be read: ${home} is a directory`);
    expect(load('mcp.json', server({ envFile: 'no/.env', disabled: true })).warnings).toEqual([]);
  });

  verifies('AGG-CFG-4', 'an envFile of a remote server is a warning', () => {
    const { config, warnings } = load('mcp.json', {
      mcpServers: { a: { url: 'https://x', envFile: '.env' } },
    });
    expect(warnings).toEqual([
      '$.mcpServers.a.envFile (line 5): envFile has no effect on a remote server: Weir starts no process for it',
    ]);
    expect(config.mcpServers['a']?.env).toEqual({});
  });
});
