import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
} from '@modelcontextprotocol/server';
import type { ToolExtra } from './tool-module.ts';

/** Asks the client to open the address; undefined where it cannot, or where it was asked before and nothing came of it. */
export function signInRequest(
  message: string,
  url: string,
  { mcpReq }: ToolExtra,
): InputRequiredResult | undefined {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const wasAsked = mcpReq.inputResponses?.[KEY] !== undefined;
  if (capabilities?.elicitation?.url === undefined || wasAsked) return undefined;
  return inputRequired({ inputRequests: { [KEY]: inputRequired.elicitUrl({ message, url }) } });
}

const KEY = 'sign-in';
