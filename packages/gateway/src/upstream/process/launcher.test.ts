import { expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { isLauncher } from './launcher.ts';

verifies('AGG-CHILD-2', 'isLauncher recognises the commands that may download first', () => {
  const launchers = [
    'npx -y @scope/server',
    '/usr/local/bin/npx server',
    'C:\\nodejs\\NPX.CMD server',
    'bunx server',
    'pnpx server',
    'uvx server',
    'uvx.exe server',
    'pnpm dlx server',
    'pnpm --silent dlx server',
    'yarn dlx server',
    'npm exec server',
    'npm --prefix /srv exec server',
    'npm x -- server',
    'bun x server',
    'uv run server.py',
    'uv --directory /srv/run run server.py',
    'uv --directory=/srv run server.py',
    'uv tool run server',
    'uv tool --quiet run server',
    'pipx run server',
    'docker run -i --rm image',
    'docker --context far run image',
    'docker container run image',
    'podman run image',
    'deno run npm:server',
    'deno run -A jsr:@scope/server',
    'cmd /c npx -y server',
    'cmd.exe /C uvx server',
  ];
  expect(launchers.filter((line) => !launches(line))).toEqual([]);
});

test('isLauncher rejects all other commands', () => {
  const others = [
    'node npx',
    'node /srv/npx/server.js run',
    'npm run exec',
    'npm start',
    'pnpm start dlx',
    'yarn server',
    'uv tool list',
    'uv pip run',
    'docker exec -i box run',
    'docker',
    'deno run server.ts',
    'deno fmt npm:x',
    'python -m uvx',
    'cmd /c node server.js',
    'cmd',
    'constructor run',
    'my-npx server',
  ];
  expect(others.filter(launches)).toEqual([]);
});

function launches(line: string): boolean {
  const [command = '', ...args] = line.split(' ');
  return isLauncher(command, args);
}
