import { folderProblem } from '@weir/server/internal';

/** Says why a state folder is not used; undefined for one that is safe or does not exist yet. */
export function stateProblem(folder: string): string | undefined {
  const problem = folderProblem(folder, {
    another: 'Name another folder with --state or WEIR_STATE.',
    within: `let Weir make a folder of its own in it: --state ${folder}/weir`,
  });
  return problem === undefined ? undefined : `The state folder ${folder} is not used: ${problem}`;
}
