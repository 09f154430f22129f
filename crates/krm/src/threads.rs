//! Work on several threads, with a result that does not depend on their number.
//!
//! Long lists are split into chunks that are joined in order.

use std::sync::LazyLock;
use std::thread;

/// The maximum number of threads.
const MAX_THREADS: usize = 8;
/// The number of threads that can run in parallel. Cached, because the system reads files for it.
static THREADS: LazyLock<usize> = LazyLock::new(|| {
    let available = thread::available_parallelism().map_or(1, usize::from);
    available.min(MAX_THREADS)
});
/// Objects may be nested as deep as `krm_yaml::MAX_DEPTH` says.
const STACK: usize = 16 * 1024 * 1024;

/// The results of `work` for chunks of `items`, in order. Each thread gets at least `smallest` items.
pub fn in_chunks<T: Sync, R: Send>(
    items: &[T],
    smallest: usize,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let size = items.len().div_ceil(*THREADS).max(smallest);
    let work = &work;
    let mut parts = Vec::new();
    thread::scope(|scope| {
        let mut chunks = items.chunks(size.max(1));
        let first = chunks.next().unwrap_or_default();
        let others: Vec<_> = chunks
            .map(|chunk| {
                let thread = thread::Builder::new().stack_size(STACK);
                (chunk, thread.spawn_scoped(scope, move || work(chunk)))
            })
            .collect();
        parts.push(work(first));
        for (chunk, thread) in others {
            // If a thread cannot be started or has died, this thread does its work.
            let done = thread.ok().and_then(|thread| thread.join().ok());
            parts.push(done.unwrap_or_else(|| work(chunk)));
        }
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::in_chunks;

    #[test]
    fn parts_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1_000).collect();
        for smallest in [0, 1, 7, 999, 5_000] {
            let parts = in_chunks(&items, smallest, <[usize]>::to_vec);
            assert_eq!(parts.concat(), items);
        }
        assert_eq!(in_chunks(&[0; 0], 1, <[i32]>::len), [0]);
    }
}
