#!/usr/bin/env node
// A clock for every time zone: an MCP server with two tools. On stdio; with `--port 3000` at http://127.0.0.1:3000/mcp.
import { McpServer } from '@modelcontextprotocol/server';
import { parseConfig } from '@weir/server/config';
import { defineTool, registerTools } from '@weir/server/modules';
import { item, items, pageInput, paginate } from '@weir/server/results';
import { setupHttpServer, setupStdioServer } from '@weir/server/transport';
import { z } from 'zod';

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
const zone = z.string().refine(isZone, 'not a time zone: zone-search lists them');

const timeGet = defineTool({
  name: 'time-get',
  description: 'Tells what time it is in a zone: now, or when it is a given time elsewhere.',
  inputSchema: z.object({
    zone: zone.describe('A time zone such as "Europe/Paris" or "UTC"'),
    time: z.iso.time({ precision: -1 }).optional().describe('A time of today in the zone `from`: "09:30"'),
    from: zone.default('UTC'),
  }),
  outputSchema: item(
    z.object({
      zone: z.string(),
      weekday: z.string(),
      date: z.iso.date(),
      time: z.string(),
      offset: z.string().describe('Hours and minutes ahead of UTC'),
    }),
  ),
  handler({ zone: wanted, time, from }) {
    const { date, offset } = timeIn(from, new Date());
    const moment = time === undefined ? new Date() : new Date(`${date}T${time}${offset}`);
    return { type: 'success', item: timeIn(wanted, moment) };
  },
});

const zoneSearch = defineTool({
  name: 'zone-search',
  description: 'Finds time zones by a part of their name.',
  inputSchema: z.object({ query: z.string().describe('Such as "paris" or "America/"'), ...pageInput() }),
  outputSchema: items(z.object({ zone: z.string() })),
  handler(args) {
    const found = zones.filter((name) => name.toLowerCase().includes(args.query.toLowerCase()));
    const listed = found.map((name) => ({ zone: name }));
    return { type: 'success', ...paginate(listed, args) };
  },
});

function timeIn(timeZone, moment) {
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' };
  const options = { timeZone, weekday: 'long', ...digits, hourCycle: 'h23', timeZoneName: 'longOffset' };
  const parts = new Intl.DateTimeFormat('en', options).formatToParts(moment);
  const { weekday, year, month, day, hour, minute, timeZoneName } = Object.fromEntries(
    parts.map(({ type, value }) => [type, value]),
  );
  const offset = timeZoneName.slice('GMT'.length) || '+00:00';
  return { zone: timeZone, weekday, date: `${year}-${month}-${day}`, time: `${hour}:${minute}`, offset };
}

function isZone(timeZone) {
  try {
    return Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function serverFactory() {
  const server = new McpServer({ name: 'clock', version: '1.0.0' });
  registerTools(server, [timeGet, zoneSearch]);
  return server;
}

const { transport } = parseConfig(process.argv.slice(2), process.env);
if (transport.type === 'stdio') await setupStdioServer({ serverFactory });
else await setupHttpServer({ serverFactory, ...transport, logger: console });
