import { useMediaQuery } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';

/** The notices that are shown now: on a phone above what lies at its bottom, where pages leave room for them. */
export function NoticeList() {
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  return <Notifications position={isNarrow ? 'bottom-center' : 'top-center'} limit={3} autoClose={5_000} />;
}
