import { Notifications } from '@mantine/notifications';

/** The notices that are shown now. */
export function NoticeList() {
  return <Notifications position="top-center" limit={3} autoClose={5_000} />;
}
