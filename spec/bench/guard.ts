/**
 * `npm run bench:guard`: fails where `StrictClient` has become slow. It looks at ratios to peers in the same short run alone, never at a
 * time, and what it finds too low it measures again, twice, before it says so: a machine that is busy with other things is no regression.
 * For the same reason the rounds are many and short, and the best of each peer's count.
 */
import { Crew } from './crew.js';
import { floorOf, RATIO_GOALS } from './goals.js';
import { rowOf } from './results.js';
import { GUARD, workloadsOf } from './workloads.js';

const TRIES = 3;
const ROUNDS = 9;

const crew = new Crew();
await crew.start();
const guarded = workloadsOf(GUARD).filter(({ name }) => RATIO_GOALS.some(({ workload }) => workload === name));
let pending = RATIO_GOALS;
for (let attempt = 1; attempt <= TRIES && pending.length > 0; attempt++) {
  const low = [];
  for (const workload of guarded) {
    const goals = pending.filter((goal) => goal.workload === workload.name);
    if (goals.length === 0) continue;
    const peers = ['strict' as const, ...new Set(goals.map(({ against }) => against))];
    const { figures } = rowOf(workload, await crew.measure(workload.job, peers, ROUNDS, 'best'));
    for (const goal of goals) {
      const ratio = figures[0]!.ratios[goal.against];
      const held = ratio >= floorOf(goal);
      const floor = `floor ${floorOf(goal).toFixed(2)}x, goal ${goal.goal.toFixed(2)}x`;
      console.log(`${held ? 'held' : 'LOW '}  ${workload.name}: ${ratio.toFixed(2)}x ${goal.against}; ${floor}`);
      if (!held) low.push(goal);
    }
  }
  pending = low;
}
crew.stop();
if (pending.length > 0) {
  console.error(`Below the floor ${String(TRIES)} times: ${pending.map(({ workload, against }) => `${workload} (${against})`).join('; ')}`);
  process.exitCode = 1;
}
