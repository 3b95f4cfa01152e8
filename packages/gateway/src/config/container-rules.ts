import { isRecord } from '../wire/json/value-checks.ts';
import { type Findings, has, isList, isReadable, type UncheckedObject } from './findings.ts';
import type { JsonPath } from './json/json-path.ts';
import { isVolumeName, readVolume, unsafeSource } from './volumes.ts';

/** The ways to speak to a server. */
export const TRANSPORTS: readonly unknown[] = ['stdio', 'http', 'streamable-http', 'sse'];

/** The rules for an entry whose server runs in a container. */
export function checkContainer(entry: UncheckedObject, at: JsonPath, found: Findings): void {
  checkTexts(entry, at, found);
  if (entry.inheritEnv === true)
    found.errors.push({
      path: [...at, 'inheritEnv'],
      message:
        'inheritEnv of a container must be an array of names: the whole environment would replace its own PATH and HOME',
    });
  if (entry.cwdFromRoots === true)
    found.errors.push({
      path: [...at, 'cwdFromRoots'],
      message: 'cwdFromRoots is not for containers: they do not see the client\'s folders; use "volumes"',
    });
  const docker = isRecord(entry.dockerConfig) ? entry.dockerConfig : {};
  const inside = [...at, 'dockerConfig'];
  checkTexts(docker, inside, found);
  checkLists(docker, inside, found);
  if (docker.allowUnsafeMounts !== true) checkMounts(docker, inside, found);
  checkPorts(docker, inside, found);
  checkTransport(entry, at, found);
  checkReach(docker, inside, { found, isHttp: isOverHttp(entry, docker) });
}

/** Spoken to over HTTP, because the entry says so or has a port for it. */
export function isOverHttp(
  { transport, type }: { transport?: unknown; type?: unknown },
  docker: { ports?: unknown; port?: unknown },
): boolean {
  const said = transport ?? type;
  return said === undefined ? docker.ports !== undefined || docker.port !== undefined : said !== 'stdio';
}

/** Pattern of each text, with the error message. */
const TEXTS: Readonly<Record<string, { readonly shape: RegExp; readonly message: string }>> = {
  image: {
    shape:
      /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/,
    message:
      'image must be the name of an image, in lower case: write "image": "mcp/time" or "image": "mcp/time:1.2"',
  },
  containerName: {
    shape: /^[A-Za-z0-9][A-Za-z0-9_.-]+$/,
    message:
      'containerName must have at least two characters, letters, digits, "_", "." and "-" only, and begin with a letter or digit: write "containerName": "mcp-time"',
  },
  path: { shape: /^\//, message: 'path must begin with a slash: write "path": "/mcp"' },
  memory: { shape: /^[1-9]\d*[bkmg]?$/i, message: 'memory must be a size: write "memory": "512m"' },
  network: {
    shape: /^[A-Za-z0-9][\w.-]*$/,
    message: 'network must be the name of a network: write "network": "none"',
  },
};

function checkTexts(entry: UncheckedObject, at: JsonPath, found: Findings): void {
  for (const [key, { shape, message }] of Object.entries(TEXTS)) {
    const value = entry[key];
    if (isKnown(value, found) && !shape.test(value))
      found.errors.push({ path: [...at, key], message, value });
  }
}

function checkLists(entry: UncheckedObject, at: JsonPath, found: Findings): void {
  for (const [key, shape, message] of [
    [
      'volumes',
      /^(?:\/[^:]*|[A-Za-z]:[\\/][^:]*|[A-Za-z0-9][\w.-]+):\/[^:]*(?::r[ow])?$/,
      'A volume is source:target or source:target:ro, with an absolute path or the name of a volume as its source: write "/home/me/notes:/notes:ro"',
    ],
    [
      'capabilities',
      /^[A-Z][A-Z_]*$/,
      'A capability is a name in capitals, such as "CHOWN"; "ALL" means all of them',
    ],
  ] as const) {
    const list = isList(entry[key]) ? entry[key] : [];
    for (const [index, value] of list.entries())
      if (isKnown(value, found) && !shape.test(value))
        found.errors.push({ path: [...at, key, index], message, value });
  }
}

/** The well-known places of engines, by their names; where links lead is looked at when the container is started. */
function checkMounts(entry: UncheckedObject, at: JsonPath, found: Findings): void {
  const list = isList(entry.volumes) ? entry.volumes : [];
  for (const [index, value] of list.entries()) {
    const source = isKnown(value, found) ? readVolume(value).source : '';
    const what = source === '' || isVolumeName(source) ? undefined : unsafeSource(source);
    if (what === undefined) continue;
    const message = `This volume would expose ${what} to the container: choose a smaller folder, or write "allowUnsafeMounts": true beside "volumes"`;
    found.errors.push({ path: [...at, 'volumes', index], message, value });
  }
}

function checkPorts(entry: UncheckedObject, at: JsonPath, { errors }: Findings): void {
  if (!isRecord(entry.ports)) return;
  for (const port of Object.keys(entry.ports)) {
    if (/^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535) continue;
    const message = 'A port of a container is a number from 1 to 65535: write "ports": { "8080": 18080 }';
    errors.push({ path: [...at, 'ports', port], message });
  }
}

function checkTransport(entry: UncheckedObject, at: JsonPath, found: Findings): void {
  for (const key of ['transport', 'type']) {
    const value = entry[key];
    if (!isKnown(value, found) || TRANSPORTS.includes(value)) continue;
    found.errors.push({
      path: [...at, key],
      message: `The ${key} of a container is "stdio", "http" or "sse"`,
      value,
    });
  }
}

/** A container on HTTP needs one port to be spoken to, and a network to have it in. */
function checkReach(
  docker: UncheckedObject,
  at: JsonPath,
  { found: { errors }, isHttp }: { found: Findings; isHttp: boolean },
): void {
  const ports = isRecord(docker.ports) ? Object.keys(docker.ports) : [];
  if (isHttp && ports.length !== 1 && !has(docker, 'port')) {
    const which = ports.length === 0 ? 'over HTTP' : 'with several ports';
    const message = `A container ${which} needs "port", the port in the container that speaks MCP: write "port": 8080 in its "dockerConfig"`;
    errors.push({ path: [...at, 'port'], message });
  }
  const { network } = docker;
  if ((isHttp || ports.length > 0) && (network === 'none' || network === 'host')) {
    const message = `Ports cannot be published from the network "${network}": choose "bridge" or one of your own`;
    errors.push({ path: [...at, 'network'], message });
  }
}

function isKnown(value: unknown, found: Findings): value is string {
  return typeof value === 'string' && value.trim() !== '' && isReadable(value, found);
}
