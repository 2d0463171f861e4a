//! `drystone report`: a run as one page that needs nothing else.

use super::{DONE, Failure, tell};
use crate::diagnostics::summary::Summary;
use crate::io::error::replace_file;
use crate::io::scene::{Content, Scene, SceneFile, SceneSource};
use crate::io::table::read_text;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// What was printed at the end of the run, and the command that made it.
pub(super) const CERTIFICATE: &str = "certificate.txt";
pub(super) const COMMAND: &str = "command.txt";
/// The scene with the settings of the command; a name that a user's own scene in that directory will hardly have.
pub(super) const SCENE_OF_RUN: &str = "scene_of_run.toml";
/// Folder of copies of files that stand neither beside the scene nor below.
const ELSEWHERE: &str = "files_of_run";
/// Rows of a table that a page shows.
const ROWS: usize = 200;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#22282e}\
    pre{background:#f3f5f7;padding:1rem;overflow:auto;font-size:14px}h1{font-size:1.7rem}h2{font-size:1.2rem;margin-top:2rem}\
    table{border-collapse:collapse;font-size:13px}td,th{padding:.15rem .6rem;border-bottom:1px solid #dfe4e8;text-align:right;white-space:nowrap}\
    .wide{overflow-x:auto}\
    td:first-child,th:first-child{text-align:left}.warning{color:#9a1b2f}figure{margin:1rem 0}svg,img{max-width:100%;height:auto}";

/// Arguments of `drystone report`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    /// What `drystone run --out DIR` has written; pictures (.png) and plots (.svg) that lie there come onto the page
    directory: PathBuf,
    /// The HTML file to write instead of DIR/report.html
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
}

/// The command of this process, as a line for a shell.
fn own_command() -> String {
    let words: Vec<String> = std::env::args().skip(1).map(|word| quoted(&word)).collect();
    format!("drystone {}\n", words.join(" "))
}

/// Keeps how a run went on, below how it was started, and its scene, which ends where the run is to end now; in a folder that is not that of the run, `saved`, a copy
/// of what stands there.
pub(super) fn keep_resumption(directory: &Path, saved: Option<&Path>, until: Option<f64>) -> Result<(), Failure> {
    let (path, own) = (directory.join(COMMAND), directory.join(SCENE_OF_RUN));
    let scene = saved.map_or_else(|| own.clone(), |saved| saved.join(SCENE_OF_RUN));
    if saved.is_some() && own.is_file() {
        std::fs::remove_file(&own).map_err(|e| Failure::input(format!("{}: cannot be removed: {e}", own.display())))?;
    }
    let source = SceneSource::new(&scene.to_string_lossy());
    let end = until.map(|end| ("time.end".to_owned(), format!("{end:?}")));
    let text = scene.is_file().then(|| source.text_with(end.as_slice())).transpose().map_err(Failure::input)?;
    if let (Some(_), Some(text)) = (saved, &text) {
        let (_, files) = Scene::load_with_files(&source, &[]).map_err(Failure::input)?;
        return keep_command(directory, text, &files);
    }
    let before = if saved.is_none() { std::fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
    replace_file(&path, format!("{before}{}", own_command()).as_bytes()).map_err(Failure::input)?;
    text.filter(|_| until.is_some()).map_or(Ok(()), |text| replace_file(&own, text.as_bytes()).map_err(Failure::input))
}

/// Keeps how a run was started: command, scene, and copies of the files that the scene names, so that the folder can be taken elsewhere.
pub(super) fn keep_command(directory: &Path, scene: &str, files: &[SceneFile]) -> Result<(), Failure> {
    replace_file(&directory.join(COMMAND), own_command().as_bytes()).map_err(Failure::input)?;
    let mut text = scene.to_owned();
    for (k, file) in files.iter().enumerate() {
        let beside = Path::new(&file.named).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let place = if beside {
            PathBuf::from(&file.named)
        } else {
            // other files may have the same name
            let name = Path::new(&file.named).file_name().unwrap_or_default().to_string_lossy();
            let taken = files[..k].iter().any(|other| Path::new(&other.named).file_name().is_some_and(|n| *n == *name));
            let place = if taken { format!("{ELSEWHERE}/{k}_{name}") } else { format!("{ELSEWHERE}/{name}") };
            for quote in ['"', '\''] {
                text = text.replace(&format!("{quote}{}{quote}", file.named), &format!("{quote}{place}{quote}"));
            }
            PathBuf::from(place)
        };
        let to = directory.join(place);
        copy(&file.content, &to).map_err(|e| Failure::input(format!("{}: cannot be written: {e}", to.display())))?;
    }
    replace_file(&directory.join(SCENE_OF_RUN), text.as_bytes()).map_err(Failure::input)
}

/// Copies a file, or the files of a folder, that may stand there already.
fn copy(content: &Content, to: &Path) -> std::io::Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let from = match content {
        Content::Inside(bytes) => return std::fs::write(to, bytes),
        Content::At(from) => from,
    };
    if from.canonicalize().ok() == to.canonicalize().ok() {
        return Ok(());
    }
    if !from.is_dir() {
        return std::fs::copy(from, to).map(drop);
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Keeps what is printed at the end of a run.
pub(super) fn keep_certificate(directory: &Path, summary: &Summary) -> Result<(), Failure> {
    replace_file(&directory.join(CERTIFICATE), format!("{summary}\n").as_bytes()).map_err(Failure::input)
}

/// The words of a line that [`quoted`] words make.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut within, mut begun) = (Vec::new(), String::new(), false, false);
    let mut letters = line.trim_end().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => (within, begun) = (!within, true),
            '\\' if !within => word.extend(letters.next()),
            ' ' if !within => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            other => word.push(other),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The rows of the last instant of a table whose first column is the time, or all rows, as HTML.
fn table(path: &Path, last: bool) -> Result<String, Failure> {
    let (header, mut rows) = read_text(path).map_err(Failure::input)?;
    if let Some(time) = rows.last().and_then(|row| row.first()).cloned().filter(|_| last) {
        rows.retain(|row| row.first() == Some(&time));
    }
    let cell = |tag: &str, text: &str| format!("<{tag}>{}</{tag}>", escaped(text));
    let number = |x: f64| match x.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e6).contains(&size) => format!("{x:.5}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => format!("{x:.3e}"),
    };
    let short = |text: &str| text.parse::<f64>().map_or_else(|_| text.to_owned(), number);
    let line = |cells: String| format!("<tr>{cells}</tr>\n");
    let mut html = format!("<div class=\"wide\"><table>\n{}", line(header.iter().map(|h| cell("th", h)).collect()));
    for row in rows.iter().take(ROWS) {
        html += &line(row.iter().map(|text| cell("td", &short(text))).collect());
    }
    html += "</table></div>\n";
    if rows.len() > ROWS {
        let _ = writeln!(html, "<p>{ROWS} of {} rows; all of them are in {}.</p>", rows.len(), escaped(&path.display().to_string()));
    }
    Ok(html)
}

pub(super) fn report(arguments: &Arguments) -> Result<u8, Failure> {
    let directory = &arguments.directory;
    let read = |name: &str| {
        let path = directory.join(name);
        std::fs::read_to_string(&path).map_err(|e| {
            let cure = "give a directory that `drystone run --out` has written to its end";
            Failure::input(format!("{}: cannot be read: {e}\n  {cure}", path.display()))
        })
    };
    let (certificate, command, summary) = (read(CERTIFICATE)?, read(COMMAND)?, read("summary.json")?);
    let path = directory.join("summary.json");
    let summary: serde_json::Value = serde_json::from_str(&summary).map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
    let name = escaped(summary["scene"].as_str().unwrap_or("run"));
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n"
    );
    for warning in summary["warnings"].as_array().into_iter().flatten().filter_map(|w| w.as_str()) {
        let _ = writeln!(html, "<p class=\"warning\">{}</p>", escaped(warning));
    }
    let _ = writeln!(html, "<h2>Certificate</h2>\n<pre>{}</pre>", escaped(certificate.trim_end()));
    let _ = writeln!(html, "<h2>Repeat it</h2>\n<pre>{}</pre>\n<p>drystone {}</p>", escaped(command.trim_end()), env!("CARGO_PKG_VERSION"));
    if directory.join(SCENE_OF_RUN).exists() {
        let what = "the scene that was run, with the settings of the command";
        let _ = writeln!(
            html,
            "<h2>Parameters</h2>\n<details><summary>{what}</summary>\n<pre>{}</pre></details>",
            escaped(read(SCENE_OF_RUN)?.trim_end())
        );
    }
    let files = std::fs::read_dir(directory).map_err(|e| Failure::input(format!("{}: cannot be listed: {e}", directory.display())))?;
    let mut files: Vec<PathBuf> = files.filter_map(|f| Some(f.ok()?.path())).collect();
    files.sort();
    let mut figures = String::new();
    for path in &files {
        let caption = path.file_name().map(|n| escaped(&n.to_string_lossy())).unwrap_or_default();
        let failed = |e: std::io::Error| Failure::input(format!("{}: cannot be read: {e}", path.display()));
        let figure = match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => {
                let text = std::fs::read_to_string(path).map_err(failed)?;
                text.find("<svg").map(|start| text[start..].to_owned()).unwrap_or_default()
            }
            Some("png") => {
                let bytes = std::fs::read(path).map_err(failed)?;
                format!("<img alt=\"{caption}\" src=\"data:image/png;base64,{}\">", STANDARD.encode(bytes))
            }
            _ => continue,
        };
        let _ = writeln!(figures, "<figure>\n{figure}\n<figcaption>{caption}</figcaption>\n</figure>");
    }
    if !figures.is_empty() {
        let _ = writeln!(html, "<h2>Figures</h2>\n{figures}");
    }
    for (name, title, last) in [
        ("joint_forces.csv", "Joints at the last instant of their table", true),
        ("block_stress.csv", "Mean stress of blocks at the last instant of their table", true),
        ("flow.csv", "What has gone through", true),
    ] {
        let path = directory.join(name);
        if path.exists() {
            let _ = writeln!(html, "<h2>{title}</h2>\n{}", table(&path, last)?);
        }
    }
    html += "</body>\n</html>\n";
    let out = arguments.out.clone().unwrap_or_else(|| directory.join("report.html"));
    replace_file(&out, html.as_bytes()).map_err(Failure::input)?;
    tell(&format!("written: {}", out.display()));
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_takes_them() {
        assert_eq!(["run", "a b", "it's", "mu=0.3", ""].map(quoted), ["run", "'a b'", "'it'\\''s'", "mu=0.3", "''"]);
        let line = ["run", "a b", "it's", "mu=0.3", "", "--set", "x=[1, 2]", "'"].map(str::to_owned);
        assert_eq!(words(&(line.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ") + "\n")), line);
        assert_eq!(escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
