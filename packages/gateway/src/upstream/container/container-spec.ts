import type { ServerConfig } from '../../config/config.generated.ts';
import { isOverHttp } from '../../config/container-rules.ts';

/** Loaded when first used: most gateways need it never, and a start is slower with it. */
const crypto = () => process.getBuiltinModule('node:crypto');

type DockerOptions = NonNullable<ServerConfig['dockerConfig']>;

/** Container that an entry describes. */
export interface ContainerSpec {
  readonly image: string;
  readonly command: readonly string[];
  /** The name it is to have, unless another container has it. */
  readonly name: string;
  readonly docker: Partial<DockerOptions>;
  /** The folder in the container where it runs; its own, where there is none. */
  readonly folder: string | undefined;
  /** Port and path of its HTTP server; undefined where it speaks through stdio. */
  readonly http: HttpSpec | undefined;
}

export interface HttpSpec {
  /** In the container. */
  readonly port: number;
  readonly path: string;
  /** The older HTTP+SSE. */
  readonly isSse: boolean;
}

export function containerSpec(serverKey: string, config: ServerConfig): ContainerSpec {
  const docker: Partial<DockerOptions> = config.dockerConfig ?? {};
  return {
    image: docker.image ?? config.image ?? '',
    command: docker.command ?? config.args ?? [],
    name: docker.containerName ?? `weir-${slug(serverKey)}`,
    folder: config.cwd,
    docker,
    http: isOverHttp(config, docker) ? httpSpec(config, docker) : undefined,
  };
}

/** Names of containers allow few characters; what is lost is made up for by a few that stand for the whole. */
function slug(serverKey: string): string {
  const plain = serverKey.replace(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 40);
  return plain === serverKey
    ? plain
    : `${plain}-${crypto().createHash('sha256').update(serverKey).digest('hex').slice(0, 6)}`;
}

function httpSpec({ transport, type }: ServerConfig, docker: Partial<DockerOptions>): HttpSpec {
  const isSse = (transport ?? type) === 'sse';
  const port = docker.port ?? Number(Object.keys(docker.ports ?? {})[0]);
  return { port, path: docker.path ?? (isSse ? '/sse' : '/mcp'), isSse };
}
