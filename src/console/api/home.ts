import { actionQuery, type ResultOf } from '#console/api/actions.ts';

export type HomeData = ResultOf<'get_home'>;
export type HomeSchedule = HomeData['schedules'][number];
export type SetupProgress = HomeData['setup'];

export const homeQuery = (orgId: string) => actionQuery(orgId, 'teams', 'get_home', {});
/** Query of the paging problems without gaps, which the timeline shows. */
export const teamWarningsQuery = (orgId: string) =>
  actionQuery(orgId, 'teams', 'get_paging_problems', { withoutGaps: true });
/** Query of what makes rules or pages late. */
export const latenessQuery = (orgId: string) => actionQuery(orgId, 'teams', 'get_lateness', {});
export const pagingProblemsQuery = (orgId: string) => actionQuery(orgId, 'teams', 'get_paging_problems', {});
