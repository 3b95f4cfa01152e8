// What can be measured, in the order in which it is printed.
import * as before from './measures/before.mjs';
import * as boot from './measures/boot.mjs';
import * as firstCall from './measures/first-call.mjs';
import * as firstList from './measures/first-list.mjs';
import * as fleet from './measures/fleet.mjs';
import * as httpLatency from './measures/http-latency.mjs';
import * as httpScale from './measures/http-scale.mjs';
import * as httpThroughput from './measures/http-throughput.mjs';
import * as latency from './measures/latency.mjs';
import * as lazy from './measures/lazy.mjs';
import * as list from './measures/list.mjs';
import * as memory from './measures/memory.mjs';
import * as results from './measures/results.mjs';
import * as scale from './measures/scale.mjs';
import * as serverFirstCall from './measures/server-first-call.mjs';
import * as serverHttp from './measures/server-http.mjs';
import * as serverList from './measures/server-list.mjs';
import * as serverMemory from './measures/server-memory.mjs';
import * as serverStdio from './measures/server-stdio.mjs';
import * as slowReader from './measures/slow-reader.mjs';
import * as start from './measures/start.mjs';
import * as throughput from './measures/throughput.mjs';

export const MEASURES = {
  latency,
  throughput,
  scale,
  results,
  list,
  boot,
  start,
  lazy,
  'first-list': firstList,
  fleet,
  'first-call': firstCall,
  memory,
  'slow-reader': slowReader,
  'http-latency': httpLatency,
  'http-throughput': httpThroughput,
  'http-scale': httpScale,
  'server-http': serverHttp,
  'server-stdio': serverStdio,
  'server-list': serverList,
  'server-first-call': serverFirstCall,
  'server-memory': serverMemory,
  before,
};
