import type { SampleIds } from '#test/browser/sample_pages.ts';
import type { FormOfConsole } from '#test/flows/form_of_console.ts';

/** Forms about a shift, an incident, a job that has reported, and a phone number that nobody has confirmed. */
export const shiftForms = ({ incidentId, serviceId }: SampleIds): readonly FormOfConsole[] => [
  {
    name: 'override',
    opening: ['oncall', /Cleo/],
    missing: ['Put on call instead'],
    fill: { Until: '2100-01-01 00:00' },
    pick: { 'Somebody else': 'Anna' },
    send: 'Put on call',
    to: '/create_schedule_override',
    refused: { userId: 'Put on call instead', startAt: 'From', endAt: 'Until' },
    keepsDraft: true,
  },
  {
    name: 'swap',
    opening: ['oncall', /Cleo/, 'Swap with another shift'],
    send: 'Swap',
    to: '/swap_shifts',
    refused: { 'second.userId': 'Swap with' },
  },
  {
    name: 'code for a phone number',
    opening: ['me', 'Send a code'],
    region: 'Your replies',
    missing: ['Code'],
    fill: { Code: '123456' },
    send: 'Confirm',
    to: '/confirm_phone',
    refused: { code: 'Code' },
  },
  {
    name: 'note',
    opening: [`incidents/${incidentId}`],
    fill: { 'Add a note': 'The database is slow' },
    send: 'Add note',
    to: '/add_incident_note',
    refused: { text: 'Add a note' },
    keepsDraft: true,
  },
  {
    name: 'cron monitor',
    opening: [`services/${serviceId}`, 'Edit backup'],
    clear: ['Crontab'],
    missing: ['Crontab'],
    fill: { Crontab: '30 5 * * 1' },
    send: 'Save',
    to: '/update_monitor',
    refused: { crontab: 'Crontab', marginMinutes: 'May begin late by', failureThreshold: 'Fails after' },
    keepsDraft: true,
  },
];

export const resetForm = (resetPath: string): FormOfConsole => ({
  name: 'new password',
  opening: [resetPath],
  missing: ['New password'],
  fill: { 'New password': 'quiet harbour 7 lantern' },
  send: 'Save and log in',
  to: `/${resetPath.replace('reset/', 'password-resets/')}`,
  refused: { password: 'New password' },
});

/** Forms in an organization that has nothing yet. */
export const startForms: readonly FormOfConsole[] = [
  {
    name: 'set-up of paging',
    opening: ['', 'Set up paging'],
    clear: ['Team'],
    missing: ['Service', 'Team'],
    fill: { Service: 'till', Team: 'Nights', 'Your phone': '+31612345678' },
    send: 'Set up',
    to: '/set_up_paging',
    refused: { serviceName: 'Service', phone: 'Your phone', teamName: 'Team' },
    keepsDraft: true,
  },
];

export const trackerForm: FormOfConsole = {
  name: 'issue tracker',
  opening: ['settings/integrations', 'Add a tracker'],
  missing: ['Repository', 'Token'],
  fill: { Repository: 'acme/shop', Token: 'token-of-the-tracker' },
  send: 'Add',
  to: '/create_issue_tracker',
  refused: { address: 'Address', project: 'Repository', token: 'Token' },
};
