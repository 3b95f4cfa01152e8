import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { childEnvironments } from './child-environment.ts';

const parent = {
  HOME: '/home/me',
  PATH: '/bin',
  LANG: 'C',
  LC_ALL: 'C',
  XDG_STATE_HOME: '/s',
  HTTPS_PROXY: 'p',
  no_proxy: 'n',
  SSL_CERT_FILE: '/c',
  NODE_EXTRA_CA_CERTS: '/d',
  AWS_SECRET_ACCESS_KEY: 'secret',
  OPENAI_API_KEY: 'secret',
  WEIR_MASTER_KEY: 'secret',
  PATHOLOGY: 'no',
  GONE: undefined,
};
const safe = {
  HOME: '/home/me',
  PATH: '/bin',
  LANG: 'C',
  LC_ALL: 'C',
  XDG_STATE_HOME: '/s',
  HTTPS_PROXY: 'p',
  no_proxy: 'n',
  SSL_CERT_FILE: '/c',
  NODE_EXTRA_CA_CERTS: '/d',
};

function childEnvironment(
  server: Parameters<ReturnType<typeof childEnvironments>>[0],
  parentEnv: Record<string, string | undefined>,
  platform: NodeJS.Platform,
): Record<string, string> {
  return childEnvironments(parentEnv, platform)(server);
}

describe('childEnvironments', () => {
  verifies('AGG-ENV-3', 'childEnvironments passes on only the variables of the short list', () => {
    expect(childEnvironment({}, parent, 'linux')).toEqual(safe);
    expect(childEnvironment({ inheritEnv: false }, parent, 'linux')).toEqual(safe);
  });

  verifies('AGG-ENV-3', 'the short list contains the variables that programs need', () => {
    const names =
      'HOME LOGNAME PATH SHELL TERM USER LANG LC_CTYPE TZ TMPDIR XDG_RUNTIME_DIR ALL_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS';
    const all = Object.fromEntries(names.split(' ').map((name) => [name, name]));
    expect(childEnvironment({}, { ...all, OTHER: 'x' }, 'darwin')).toEqual(all);
  });

  verifies('AGG-ENV-3', "a server's own env overrides inherited variables", () => {
    const env = { HOME: '/elsewhere', TOKEN: 't' };
    expect(childEnvironment({ env }, parent, 'linux')).toEqual({ ...safe, ...env });
  });

  verifies(
    'AGG-ENV-3',
    "inheritEnv adds variables by name or all of them, but never the gateway's secrets",
    () => {
      const named = childEnvironment(
        { inheritEnv: ['OPENAI_API_KEY', 'NOPE', 'WEIR_MASTER_KEY'] },
        parent,
        'linux',
      );
      expect(named).toEqual({ ...safe, OPENAI_API_KEY: 'secret' });
      const { WEIR_MASTER_KEY: _, GONE: __, ...rest } = parent;
      expect(childEnvironment({ inheritEnv: true }, parent, 'linux')).toEqual(rest);
    },
  );

  verifies(
    'AGG-ENV-3',
    'on Windows childEnvironments passes on the variables that a process needs, in any letter case',
    () => {
      const windows = {
        Path: 'C:\\bin',
        SystemRoot: 'C:\\Windows',
        'ProgramFiles(x86)': 'C:\\P',
        Secret: 's',
        Weir_Key: 's',
      };
      expect(childEnvironment({}, windows, 'win32')).toEqual({
        Path: 'C:\\bin',
        SystemRoot: 'C:\\Windows',
        'ProgramFiles(x86)': 'C:\\P',
      });
      expect(childEnvironment({}, windows, 'linux')).toEqual({});
      expect(childEnvironment({ inheritEnv: ['SECRET'] }, windows, 'win32')).toHaveProperty('Secret', 's');
    },
  );

  verifies('AGG-ENV-3', "on Windows a variable is passed once, in the spelling of the server's env", () => {
    const environment = childEnvironment({ env: { PATH: 'D:\\own' } }, { Path: 'C:\\bin' }, 'win32');
    expect(environment).toEqual({ PATH: 'D:\\own' });
  });
});
