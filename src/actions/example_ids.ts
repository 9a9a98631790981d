/** The ids that examples use: those of the reference and those of the console's operations. */
export const EXAMPLE_IDS = {
  serviceId: 'service_01k9z8e4rnf7ktv2x5m6w0abqd',
  dashboardId: 'dashboard_01k9z8f1c2e3taz9v4n7h8s5rm',
  groupId: 'group_01kdwm3y8pfqa9b6t2x0c4v7zs',
  teamId: 'team_01k9z8g5m6f0rbn3w8d2y7k4qe',
  memberId: 'member_01k9z8gq7he1stp5x0a4v9c6nd',
  userId: 'user_01k9z7a2b3c4d5e6f7g8h9jkmn',
  otherUserId: 'user_01k9z7b8c9d0e1f2g3h4j5k6mn',
  scheduleId: 'schedule_01k9z8h3j4k5m6n7p8q9r0s1tv',
  overrideId: 'override_01kdp2w5x6y7z8a9b0c1d2e3fg',
  policyId: 'policy_01k9z8j6k7m8n9p0q1r2s3t4vw',
  ruleId: 'rule_01k9z8k9m0n1p2q3r4s5t6v7wx',
  incidentId: 'incident_01kdwm4a1b2c3d4e5f6g7h8j9k',
  notificationId: 'notification_01kdwm4b2c3d4e5f6g7h8j9k0m',
  periodId: 'period_01k9z8e9s0t1v2w3x4y5z6a7bc',
} as const;
