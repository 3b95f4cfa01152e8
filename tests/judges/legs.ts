// The conformance suite against one server, by three roads: itself, through the gateway on HTTP, through the gateway on stdio.
import { startServe } from '../support/http.ts';
import { conformanceCommand, startConformanceServer, type Make } from './conformance-server.ts';
import { runConformance, type Requirements, type Verdict } from './run-conformance.ts';

export const LEGS = ['direct', 'http → http', 'http → stdio'] as const;
export type Leg = (typeof LEGS)[number];

/** Scenarios that mean nothing on a leg, and why. */
export const EXCEPTIONS: Readonly<Partial<Record<Leg, Record<string, string>>>> = {
  'http → stdio': {
    'server-sse-polling': 'its server closes an HTTP stream of its own, and on stdio it has none',
  },
};

/** Returns the verdicts of the suite on the server by this road. */
export async function runLeg(leg: Leg, requirements: Requirements, make: Make = 'dual'): Promise<Verdict[]> {
  await using target = await startTarget(leg, make);
  const verdicts = await runConformance(target.url, requirements);
  return verdicts.filter(({ scenario }) => EXCEPTIONS[leg]?.[scenario] === undefined);
}

interface Target extends AsyncDisposable {
  readonly url: string;
}

async function startTarget(leg: Leg, make: Make): Promise<Target> {
  if (leg === 'http → stdio') return throughGateway(conformanceCommand(make));
  const server = await startConformanceServer(make);
  if (leg === 'direct') return { url: server.url, [Symbol.asyncDispose]: server.stop };
  const { url, ...gateway } = await throughGateway({ url: server.url });
  return {
    url,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

async function throughGateway(entry: { url: string } | { command: string; args: string[] }): Promise<Target> {
  const gateway = await startServe({ conformance: entry }, { args: ['--no-prefix', '--no-auth'] });
  return { url: gateway.url, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

/** Verdicts that can be compared: by scenario, each check with its status, without the traffic that the suite notes as INFO. */
export function byScenario(verdicts: readonly Verdict[]): Record<string, string[]> {
  const table: Record<string, string[]> = {};
  for (const { scenario, check, status } of verdicts) {
    table[scenario] ??= [];
    if (status !== 'INFO') table[scenario].push(`${status} ${check}`);
  }
  return Object.fromEntries(Object.entries(table).map(([scenario, checks]) => [scenario, checks.toSorted()]));
}

/** Lists the differences between two legs, scenario by scenario and check by check; both may leave out scenarios. */
export function differences(direct: readonly Verdict[], through: readonly Verdict[]): string[] {
  const [expected, found] = [byScenario(direct), byScenario(withoutOptional(through, direct))];
  const reasons = new Map(
    through.map(({ scenario, check, message }) => [`${scenario} ${check}`, message ?? '']),
  );
  return Object.keys(found).flatMap((scenario) => [
    ...without(expected[scenario] ?? [], found[scenario] ?? []).map(
      (check) => `${scenario}: only directly: ${check}`,
    ),
    ...without(found[scenario] ?? [], expected[scenario] ?? []).map(
      (check) =>
        `${scenario}: only through the gateway: ${check} ${reasons.get(`${scenario} ${check.replace(/^\S+ /, '')}`)}`,
    ),
  ]);
}

/** Leaves out what the gateway does and the server may leave: to answer legacy clients in a stream, for one. */
function withoutOptional(through: readonly Verdict[], direct: readonly Verdict[]): readonly Verdict[] {
  const named = ({ scenario, check }: Verdict): string => `${scenario} ${check}`;
  const optional = new Set(direct.filter(({ status }) => status === 'INFO').map(named));
  return through.filter((verdict) => verdict.status !== 'SUCCESS' || !optional.has(named(verdict)));
}

/** The first list without the second; what is listed twice counts twice. */
function without(list: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return list.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
