import type { ServerConfig } from './config.generated.ts';

/** Variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that a program needs for its paths, its locale and the network; none that could hold a secret. */
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

type Inheriting = Pick<ServerConfig, 'env' | 'inheritEnv'>;

/**
 * The environments of children: the short list, what `inheritEnv` adds, and the server's own `env` over both.
 * The list is looked through once for all of them: with many servers and variables that is work.
 */
export function childEnvironments(
  parentEnv: Environment,
  platform: NodeJS.Platform,
): (server: Inheriting) => Record<string, string> {
  const windows = platform === 'win32';
  const sameName = windows ? (name: string) => name.toUpperCase() : (name: string) => name;
  const safe = windows ? [...EVERYWHERE, ...ON_WINDOWS] : EVERYWHERE;
  const all = Object.entries(parentEnv).filter(
    ([name, value]) => value !== undefined && !isOwnVariable(name),
  );
  const short = all.filter(([name]) => safe.some((pattern) => matches(pattern, sameName(name))));
  const shortNames = new Set(short.map(([name]) => name));
  return ({ env: own = {}, inheritEnv }) => {
    const ownNames = new Set(Object.keys(own).map(sameName));
    const listed = new Set(Array.isArray(inheritEnv) ? inheritEnv.map(sameName) : []);
    const wanted =
      listed.size === 0 ? short : all.filter(([name]) => shortNames.has(name) || listed.has(sameName(name)));
    const inherited = (inheritEnv === true ? all : wanted).filter(
      // On Windows PATH and Path are one variable: the server's own spelling must be the only one.
      ([name]) => !ownNames.has(sameName(name)),
    );
    return Object.fromEntries([...inherited, ...Object.entries(own)]) as Record<string, string>;
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
