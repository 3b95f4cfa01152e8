import { expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { SpawnError } from './spawn-error.ts';
import { systemTool, windowsCommand } from './windows-command.ts';

const NODE = 'C:\\Program Files\\nodejs';
const env = { PATH: `C:\\tools;;${NODE}`, SYSTEMROOT: 'D:\\Windows' };
const files = [
  `${NODE}\\npx`,
  `${NODE}\\npx.cmd`,
  `${NODE}\\node.exe`,
  'C:\\srv\\run.bat',
  'C:\\tools\\uvx.exe',
];

function resolve(command: string, args: string[] = [], cwd?: string): ReturnType<typeof windowsCommand> {
  return windowsCommand({ command, args, env, cwd }, (path) => files.includes(path));
}

verifies('AGG-QA-2', 'windowsCommand finds a batch file by its bare name and quotes its arguments', () => {
  expect(resolve('npx', ['-y', 'a b&c|d>e^f', '', 'C:\\dir\\'])).toEqual({
    file: 'D:\\Windows\\System32\\cmd.exe',
    args: ['/d', '/v:off', '/s', '/c', `""${NODE}\\npx.cmd" "-y" "a b&c|d>e^f" "" "C:\\dir\\\\""`],
    verbatim: true,
  });
});

verifies(
  'AGG-QA-2',
  'windowsCommand refuses an argument that could leave its quotes, and does not show it',
  () => {
    for (const argument of ['"&calc', '%PATH%', 'a\nb', 'a\rb', 'a\0b']) {
      expect(() => resolve('npx', ['fine', argument])).toThrow(SpawnError);
      expect(() => resolve('npx', ['fine', argument])).toThrow(
        'argument 2 cannot be passed safely to the batch file "npx.cmd"',
      );
    }
  },
);

test('windowsCommand starts a program with its arguments unchanged', () => {
  const args = ['%PATH%', '"quoted"'];
  expect(resolve('node', args)).toEqual({ file: `${NODE}\\node.exe`, args, verbatim: false });
  expect(resolve('uvx.exe', args).file).toBe('C:\\tools\\uvx.exe');
});

test('windowsCommand resolves a path from the working directory, but not a bare name', () => {
  expect(resolve('.\\run', [], 'C:\\srv').args.at(-1)).toBe('""C:\\srv\\run.bat""');
  expect(resolve('C:\\srv\\run.bat').args.at(-1)).toBe('""C:\\srv\\run.bat""');
  expect(resolve('run', [], 'C:\\srv')).toEqual({ file: 'run', args: [], verbatim: false });
});

test('systemTool returns the full path of a system tool', () => {
  expect(systemTool('taskkill.exe', {})).toBe('C:\\Windows\\System32\\taskkill.exe');
});
