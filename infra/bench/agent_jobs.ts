import { Agent, type Job, JOBS, NotPossible } from './agent_jobs/jobs.ts';
import { type JobWorld, plantJobs } from './agent_jobs/world.ts';
import { type Bench, printInputs, printTable, withInstallation } from './harness.ts';

export const agentJobs: Bench = {
  name: 'agent_jobs',
  about:
    'six jobs of an agent through MCP alone, without a model: calls, wrong calls, tokens, and whether it was right',
  run: () =>
    withInstallation(async (installation) => {
      const world = await plantJobs(installation);
      printInputs({ jobs: JOBS.length, 'exception groups': world.counts.size });
      const rows = [];
      for (const job of JOBS) rows.push(await done(job, new Agent(installation.baseUrl, installation.apiKey), world));
      printTable(rows);
    }),
};

async function done({ name, run }: Job, agent: Agent, world: JobWorld) {
  const outcome = await outcomeOf(() => run(agent, world));
  const { calls, tokens } = agent.session;
  return { job: name, calls, 'wrong calls': agent.wrong, tokens, outcome };
}

async function outcomeOf(work: () => Promise<string | null>): Promise<string> {
  try {
    return (await work()) ?? 'right';
  } catch (error) {
    if (error instanceof NotPossible) return `not possible: ${error.message}`;
    throw error;
  }
}
