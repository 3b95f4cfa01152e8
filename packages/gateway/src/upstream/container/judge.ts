import type { ServerConfig } from '../../config/config.generated.ts';
import { checkContainer } from '../../config/container-rules.ts';
import { createFindings } from '../../config/findings.ts';
import { formatLocation } from '../../config/json/json-path.ts';
import { EngineError } from './engine-error.ts';
import { refuseUnsafeMounts } from './unsafe-mounts.ts';

/** Applies the rules for containers to the values that are about to run, whichever way they came here. */
export function judgeContainer(config: ServerConfig, env: Readonly<Record<string, string>>): void {
  const found = createFindings(true);
  checkContainer({ ...config }, [], found);
  const [mistake] = found.errors;
  if (mistake !== undefined)
    throw new EngineError(`its "${formatLocation(mistake.path)}" is refused. ${mistake.message}`);
  const { volumes = [], allowUnsafeMounts = false } = config.dockerConfig ?? {};
  if (!allowUnsafeMounts) refuseUnsafeMounts(volumes, env);
}
