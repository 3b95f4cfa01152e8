import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the system wants programs to remember things; a relative path in its variables counts as none. */
export function stateFolder(env: Environment): string | undefined {
  const { WEIR_STATE, XDG_STATE_HOME, HOME, LOCALAPPDATA } = env;
  if (WEIR_STATE) return WEIR_STATE;
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'weir');
  if (HOME && isAbsolute(HOME)) return join(HOME, '.local', 'state', 'weir');
  return LOCALAPPDATA ? join(LOCALAPPDATA, 'weir') : undefined;
}
