//! The fenced blocks of a Markdown text.

/// A block between two lines of three backticks.
pub(crate) struct Block<'t> {
    /// The number of its first line.
    pub(crate) line: usize,
    /// The line before it.
    pub(crate) before: &'t str,
    /// The word after the opening backticks.
    pub(crate) language: &'t str,
    /// Its lines.
    pub(crate) lines: Vec<&'t str>,
}

impl Block<'_> {
    /// Its lines, each with its end.
    pub(crate) fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line, "\n"]).collect()
    }
}

/// All blocks of a text.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(text.lines());
    let mut before = "";
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body = lines.by_ref().map(|(_, line)| line);
            blocks.push(Block {
                line: number + 1,
                before,
                language,
                lines: body.take_while(|line| *line != "```").collect(),
            });
        }
        before = line;
    }
    blocks
}
