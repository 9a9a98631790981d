/** Tools that people move in from, with what the console says of each. */
export const TOOL_SOURCES = {
  pagerduty: { title: 'PagerDuty', key: 'Read-only REST API key', address: 'https://api.pagerduty.com' },
  opsgenie: {
    title: 'Opsgenie',
    key: 'API key with read and configuration access',
    address: 'https://api.opsgenie.com',
  },
  jsm: { title: 'Jira Service Management', key: 'ADDRESS:TOKEN of an account', address: null },
  'grafana-oncall': { title: 'Grafana OnCall', key: 'API key, or STACK_URL:TOKEN', address: null },
  'splunk-on-call': { title: 'Splunk On-Call', key: 'API_ID:API_KEY, read-only', address: 'https://api.victorops.com' },
  'better-stack': { title: 'Better Stack', key: 'Uptime API token', address: 'https://uptime.betterstack.com' },
  goalert: { title: 'GoAlert', key: 'GraphQL API key', address: null },
  sentry: { title: 'Sentry', key: 'Token that reads', address: 'https://sentry.io' },
  alertmanager: { title: 'Alertmanager', key: null, address: null },
  prometheus: { title: 'Prometheus', key: null, address: null },
  grafana: { title: 'Grafana', key: null, address: null },
  ical: { title: 'iCal', key: null, address: null },
} as const;

export type ToolName = keyof typeof TOOL_SOURCES;

export const TOOL_NAMES = Object.keys(TOOL_SOURCES) as readonly ToolName[];
