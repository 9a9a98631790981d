import { type GetPromptResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** Task that people start from a menu of their client. */
interface Prompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
  readonly text: (args: Readonly<Record<string, string>>) => string;
}

const TEAM = { name: 'team', description: 'the team, by name or id; all teams when left out', required: false };

const ALL: readonly Prompt[] = [
  {
    name: 'night_triage',
    description: 'Look through what is open, find causes, and say what can wait until morning.',
    arguments: [{ name: 'service', description: 'only this service, by name or id', required: false }],
    text: ({ service }) =>
      `Triage the open incidents${service === undefined ? '' : ` of the service ${service}`}.
1. list_incidents with status triggered, then acknowledged. Note last24Hours: rules that fire often.
2. For each triggered incident, the most severe first: get_incident. Read evidence: deploys, changes, new exceptions, metrics that moved, how similar incidents ended.
3. Where an exception is involved: get_exception_group; compare byRelease, firstBadRelease and suspectDeploy. Where a metric is: query_metric around the trigger.
4. Say for each: what broke, since when, the likely cause with its evidence, and whether it can wait. Say plainly when the evidence does not tell.
5. Acknowledge only what the person you work for takes over, and only when they say so. Resolve nothing by yourself.`,
  },
  {
    name: 'set_up_on_call',
    description: 'Set up a team so that a page at night reaches somebody.',
    arguments: [TEAM],
    text: ({ team }) =>
      `Set up on-call${team === undefined ? '' : ` for the team ${team}`}.
1. list_services and list_teams. Ask which people take turns, in which time zone, and when turns change.
2. create_team if there is none, add_team_member for each person, create_schedule with their userIds.
3. create_escalation_policy: first whoever is on call, then somebody else some minutes later. Read its warnings: a step that reaches nobody has to be mended.
4. enable_capability oncall for the service. It costs EUR 1 a month: ask first.
5. For each rule: query_metric first, propose a threshold, and create_alert_rule only after a yes.
6. who_is_on_call: check the shifts of the next four weeks and its warnings. Tell what is still missing, such as phone numbers that nobody has confirmed.`,
  },
  {
    name: 'weekly_noise',
    description: 'Find the rules that page too often, and propose better ones.',
    arguments: [{ name: 'service', description: 'only this service, by name or id', required: false }],
    text: ({ service }) =>
      `Find noisy alert rules${service === undefined ? '' : ` of the service ${service}`}.
1. list_incidents: count those of the last seven days by ruleName, and how many were resolved without anybody acknowledging them.
2. For the five noisiest rules: get_service for their configs, and query_metric over 10080 minutes for the p95 and maximum of what they watch.
3. Propose for each: keep it, raise the threshold, lengthen the window, or turn it off, with the number of pages that it would have saved.
4. Change nothing before the person you work for has agreed; then update_alert_rule.`,
  },
  {
    name: 'handover',
    description: 'Write the handover for whoever is on call next.',
    arguments: [TEAM],
    text: ({ team }) =>
      `Write a handover${team === undefined ? '' : ` for the team ${team}`}.
1. who_is_on_call: who hands over to whom, when, and which overrides lie ahead.
2. list_incidents: what is open, what was triggered in the last 24 hours and by which rules; get_incident for those that are open.
3. list_exception_groups with status unresolved: what is new or came back.
4. Write at most one page: open incidents with their state and next step, what changed, what to watch, who is next.`,
  },
];

/** Answer to `prompts/list`. */
export const PROMPTS = ALL.map(({ text: _, ...prompt }) => ({ ...prompt, arguments: [...prompt.arguments] }));

const TEXT_MAX = 200;

/** Returns a prompt. Throws an error of the protocol if it does not exist. */
export function getPrompt(name: string, args: Readonly<Record<string, string>> = {}): GetPromptResult {
  const prompt = ALL.find((prompt) => prompt.name === name);
  if (prompt === undefined) {
    const names = ALL.map((prompt) => prompt.name).join(', ');
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `no prompt is named so; there are ${names}`);
  }
  const short = Object.fromEntries(Object.entries(args).map(([key, value]) => [key, value.slice(0, TEXT_MAX)]));
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(short) } }],
  };
}
