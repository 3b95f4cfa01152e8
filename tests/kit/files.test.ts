import { doors } from './file-doors.ts';
import { describeDoor } from './files.case.ts';

for (const [name, open] of doors) describeDoor(name, open);
