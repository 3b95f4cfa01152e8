// @ts-check
// All faults, in the order in which they are tried.
import { failingServer } from './failing-server.mjs';
import { floodingServer } from './flooding-server.mjs';
import { hungServer } from './hung-server.mjs';
import { killedContainers } from './killed-containers.mjs';
import { killedGateway } from './killed-gateway.mjs';
import { killedServer } from './killed-server.mjs';
import { killedServers } from './killed-servers.mjs';
import { reload } from './reload.mjs';
import { restartedUpstream } from './restarted-upstream.mjs';
import { fullDisk, killedWriters } from './state-writes.mjs';
import { unreadAnswers } from './unread-answers.mjs';
import { vanishedClient } from './vanished-client.mjs';

/** @type {Record<string, import('../chaos.mjs').Fault>} */
export const FAULTS = {
  'killed-servers': killedServers,
  'killed-server': killedServer,
  'hung-server': hungServer,
  'failing-server': failingServer,
  'flooding-server': floodingServer,
  'restarted-upstream': restartedUpstream,
  reload,
  'vanished-client': vanishedClient,
  'unread-answers': unreadAnswers,
  'killed-gateway': killedGateway,
  'killed-containers': killedContainers,
  'killed-writers': killedWriters,
  'full-disk': fullDisk,
};

/** @type {readonly import('./subjects.mjs').Name[]} */
export const NAMES = ['weir', 'weir serve', 'mcp-hub', 'mcp-proxy'];
