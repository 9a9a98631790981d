import { compareReleases } from '#actions/releases/compare_releases.ts';
import { listReleases } from '#actions/releases/list_releases.ts';
import { recordDeploy } from '#actions/releases/record_deploy.ts';

/** What the console shows and does of releases and deploys. */
export const RELEASE_OPERATIONS = [listReleases, compareReleases, recordDeploy] as const;
