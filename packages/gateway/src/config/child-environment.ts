import type { ServerConfig } from './config.generated.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a program needs to find itself, its files, its language and the network; nothing that could be a secret of ours. */
const EVERYWHERE: readonly string[] = [
  'HOME',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'USER',
  'LANG',
  'LC_*',
  'TZ',
  'TMPDIR',
  'XDG_*',
  '*_PROXY',
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
];

/** Without these, programs on Windows find neither their libraries nor their folders. */
const ON_WINDOWS: readonly string[] = [
  'ALLUSERSPROFILE',
  'APPDATA',
  'COMMONPROGRAMFILES',
  'COMMONPROGRAMFILES(X86)',
  'COMMONPROGRAMW6432',
  'COMPUTERNAME',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'PUBLIC',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERDOMAIN',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

/** The environment of a child: the short list, what `inheritEnv` adds, and the server's own `env` over both. */
export function childEnvironment(
  server: Pick<ServerConfig, 'env' | 'inheritEnv'>,
  parentEnv: Environment,
  platform: NodeJS.Platform,
): Record<string, string> {
  const own = server.env ?? {};
  const sameName = platform === 'win32' ? (name: string) => name.toUpperCase() : (name: string) => name;
  const ownNames = new Set(Object.keys(own).map(sameName));
  const isInherited = inheritance(server.inheritEnv, platform === 'win32', sameName);
  const inherited = Object.entries(parentEnv).filter(
    // On Windows PATH and Path are one variable: the server's own spelling must be the only one.
    ([name, value]) => value !== undefined && isInherited(name) && !ownNames.has(sameName(name)),
  );
  return Object.fromEntries([...inherited, ...Object.entries(own)]) as Record<string, string>;
}

function inheritance(
  inheritEnv: ServerConfig['inheritEnv'],
  windows: boolean,
  sameName: (name: string) => string,
): (name: string) => boolean {
  const listed = new Set(Array.isArray(inheritEnv) ? inheritEnv.map(sameName) : []);
  const safe = windows ? [...EVERYWHERE, ...ON_WINDOWS] : EVERYWHERE;
  return (name) => {
    if (isOwnVariable(name)) return false;
    return (
      inheritEnv === true ||
      listed.has(sameName(name)) ||
      safe.some((pattern) => matches(pattern, sameName(name)))
    );
  };
}

// The gateway's keys and tokens come in variables of this prefix.
function isOwnVariable(name: string): boolean {
  return name.toUpperCase().startsWith('WEIR_');
}

function matches(pattern: string, name: string): boolean {
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1));
  // Proxies are set in small letters as often as in capitals.
  if (pattern.startsWith('*')) return name.toUpperCase().endsWith(pattern.slice(1));
  return name === pattern;
}
