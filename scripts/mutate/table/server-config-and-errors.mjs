// @ts-check

const SETTINGS = 'packages/server/src/config/settings.ts';
const CODES = 'packages/server/src/errors/codes.ts';
const ports = {
  file: 'packages/server/src/config/parse-config.test.ts',
  name: 'a port is a whole number from 1 to 65535',
};
const statuses = {
  file: 'packages/server/src/errors/tool-error.test.ts',
  name: 'each status has the code of the table',
};
const refused = { file: statuses.file, name: 'a status below 400 throws' };

/** @type {readonly import('../mutations.mjs').Mutation[]} */
export const SERVER_CONFIG_AND_ERRORS = [
  {
    id: 'KIT-CFG-1',
    number: 'ports 1 to 65535',
    file: SETTINGS,
    from: 'LAST_PORT = 65_535',
    to: ['LAST_PORT = 65_534', 'LAST_PORT = 65_536'],
    proofs: [ports],
  },
  {
    id: 'KIT-CFG-1',
    number: 'ports 1 to 65535',
    file: SETTINGS,
    from: '[1-9]\\d{0,4}',
    to: ['\\d{1,5}', '[2-9]\\d{0,4}'],
    proofs: [ports],
  },
  {
    id: 'KIT-ERR-1',
    number: 'statuses from 400',
    file: CODES,
    from: 'status >= 400',
    to: ['status >= 399', 'status >= 401'],
    proofs: [statuses, refused],
  },
  {
    id: 'KIT-ERR-1',
    number: 'services from 500',
    file: CODES,
    from: 'status >= 500',
    to: ['status >= 499', 'status >= 501'],
    proofs: [statuses],
  },
  {
    id: 'KIT-ERR-1',
    number: 'rate limit 429',
    file: CODES,
    from: '429:',
    to: ['428:'],
    proofs: [statuses],
  },
];
