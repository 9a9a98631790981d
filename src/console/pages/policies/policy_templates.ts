import { type DraftStep, NO_DETAILS } from '#console/pages/policies/policy_draft.ts';

export interface PolicyTemplate {
  readonly title: string;
  readonly about: string;
  readonly name: string;
  /** Returns its steps for a team with these members and schedules, the oldest first. */
  steps(memberIds: readonly string[], scheduleIds: readonly string[]): DraftStep[];
}

const onCallOnly = { ...NO_DETAILS, targetUserIds: [], useSchedule: true } as const;

export const POLICY_TEMPLATES: readonly PolicyTemplate[] = [
  {
    title: 'Primary, then secondary',
    about:
      'Push and SMS to the first schedule at once; push, SMS and a call to the second after 10 minutes. Without a second, to whose turn follows.',
    name: 'Primary, then secondary',
    steps: (_, [primary, secondary]) => [
      {
        key: 0,
        afterMinutes: 0,
        channels: ['push', 'sms'],
        ...onCallOnly,
        scheduleIds: primary === undefined ? [] : [primary],
      },
      {
        key: 1,
        afterMinutes: 10,
        channels: ['push', 'sms', 'call'],
        ...onCallOnly,
        scheduleIds: secondary === undefined ? [] : [secondary],
        isNext: secondary === undefined,
      },
    ],
  },
  {
    title: 'Wake the people on call, then everybody',
    about: 'Push and SMS at once; push, SMS and a call after 5 minutes, to the whole team after 15.',
    name: 'Wake the people on call',
    steps: (memberIds) => [
      { key: 0, afterMinutes: 0, channels: ['push', 'sms'], ...onCallOnly },
      { key: 1, afterMinutes: 5, channels: ['push', 'sms', 'call'], ...onCallOnly },
      { key: 2, afterMinutes: 15, channels: ['push', 'sms', 'call'], ...onCallOnly, targetUserIds: memberIds },
    ],
  },
  {
    title: 'Wake the people on call, again and again',
    about: 'Push, SMS and a call at once, after 5, 10 and 20 minutes.',
    name: 'Call until somebody answers',
    steps: () =>
      [0, 5, 10, 20].map((afterMinutes, key) => ({
        key,
        afterMinutes,
        channels: ['push', 'sms', 'call'],
        ...onCallOnly,
      })),
  },
  {
    title: 'Wake nobody',
    about: 'One mail to the people on call, for what can wait until the morning.',
    name: 'Mail the people on call',
    steps: () => [{ key: 0, afterMinutes: 0, channels: ['email'], ...onCallOnly }],
  },
];
