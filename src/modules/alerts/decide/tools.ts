/** The protocols in which other tools send alerts, with what their senders are called. */
export const ALERT_TOOLS = {
  events: 'JSON events',
  pagerduty: 'PagerDuty events',
  opsgenie: 'Opsgenie',
  alertmanager: 'Alertmanager',
  grafana: 'Grafana',
  prometheus: 'Prometheus',
  victorops: 'VictorOps',
  webhook: 'Webhook',
  sns: 'AWS SNS',
  mail: 'Mail',
} as const;

export type AlertProtocolName = keyof typeof ALERT_TOOLS;

export const ALERT_PROTOCOL_NAMES = Object.keys(ALERT_TOOLS) as readonly AlertProtocolName[];

export const SOURCE_NAME_LENGTH_MAX = 100;

/** Returns the name of a source for people: its protocol, and its own name if it has one. */
export function toolOf(protocol: string, name: string): string {
  const tool = Object.hasOwn(ALERT_TOOLS, protocol) ? ALERT_TOOLS[protocol as AlertProtocolName] : protocol;
  if (name === '') return tool;
  return protocol === 'alertmanager' || protocol === 'grafana' || protocol === 'webhook' ? `${tool} ${name}` : name;
}
