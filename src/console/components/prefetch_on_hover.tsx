import { type ReactNode, useEffect, useRef, useState } from 'react';

/** Distance below the screen within which content is rendered already, so that it is there on scrolling. */
const MARGIN = '300px';

/** Renders content far down a page, and so fetches its data, once it comes near the screen. */
export function PrefetchOnHover({ children }: { readonly children: ReactNode }) {
  const [isNear, setIsNear] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setIsNear(true);
      },
      { rootMargin: MARGIN },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return isNear ? children : <div ref={place} />;
}
