import { readOnCall } from '#modules/moving_in/decide/grafana_oncall/read_oncall.ts';
import { readOpsgenie } from '#modules/moving_in/decide/opsgenie/read_opsgenie.ts';
import { readAlertmanager } from '#modules/moving_in/decide/other/read_alertmanager.ts';
import { readBetterStack } from '#modules/moving_in/decide/other/read_better_stack.ts';
import { readGoAlert } from '#modules/moving_in/decide/other/read_goalert.ts';
import { readGrafana } from '#modules/moving_in/decide/other/read_grafana.ts';
import { readICal } from '#modules/moving_in/decide/other/read_ical.ts';
import { readPrometheus } from '#modules/moving_in/decide/other/read_prometheus.ts';
import { readSentry } from '#modules/moving_in/decide/other/read_sentry.ts';
import { readSplunkOnCall } from '#modules/moving_in/decide/other/read_splunk.ts';
import { readPagerDuty } from '#modules/moving_in/decide/pagerduty/read_pagerduty.ts';
import { keyInFile, type Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import type { RawDocument } from '#modules/moving_in/decide/raw.ts';

export interface MoveInTool {
  readonly title: string;
  /** Turns answers or files into a file; null if none of them belongs to the tool. */
  readonly read: (documents: readonly RawDocument[], time: ReadingTime) => Moved | null;
}

export const MOVE_IN_TOOLS: Readonly<Record<string, MoveInTool>> = {
  pagerduty: { title: 'PagerDuty', read: readPagerDuty },
  opsgenie: { title: 'Opsgenie', read: readOpsgenie },
  jsm: { title: 'Jira Service Management Operations', read: readOpsgenie },
  'grafana-oncall': { title: 'Grafana OnCall', read: readOnCall },
  'splunk-on-call': { title: 'Splunk On-Call', read: readSplunkOnCall },
  'better-stack': { title: 'Better Stack', read: readBetterStack },
  goalert: { title: 'GoAlert', read: readGoAlert },
  alertmanager: { title: 'Alertmanager', read: readAlertmanager },
  prometheus: { title: 'Prometheus', read: readPrometheus },
  grafana: { title: 'Grafana', read: readGrafana },
  sentry: { title: 'Sentry', read: readSentry },
  ical: { title: 'iCal', read: readICal },
};

/** Prefixes of the keys in files, where they are not the name of the tool. */
const PREFIXES: Readonly<Record<string, string>> = {
  jsm: 'opsgenie',
  'grafana-oncall': 'oncall',
  'splunk-on-call': 'splunk',
  'better-stack': 'betterstack',
  'sentry rule': 'sentry-rule',
};

/** Returns the key that a file has for an item of a tool; that of nothing for an item that is no resource. */
export function keyOfItem(tool: string, kind: string, id: string): string {
  return RESOURCE_ITEMS.has(kind) ? keyInFile(PREFIXES[`${tool} ${kind}`] ?? PREFIXES[tool] ?? tool, id) : '';
}

const RESOURCE_ITEMS = new Set(['user', 'team', 'schedule', 'policy', 'service', 'project', 'rule']);
