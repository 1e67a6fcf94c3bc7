//! The power goes: what a file system in a file holds at that instant is all that is left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::story::Story;
use super::trace::{self, Fault};
use super::trial::{self, Choice, Tally};
use crate::stage::Stage;

/// The file system's size, in mebibytes.
const SIZE: &str = "64M";

/// A file system in a file, mounted while this lives.
struct Disk {
    image: PathBuf,
    at: PathBuf,
}

impl Disk {
    fn make(folder: &Path) -> io::Result<Self> {
        let disk = Self {
            image: folder.join("image"),
            at: folder.join("disk"),
        };
        fs::create_dir_all(&disk.at)?;
        fs::File::create(&disk.image)?;
        ran(Command::new("truncate").args(["-s", SIZE]).arg(&disk.image))?;
        ran(Command::new("mkfs.ext4").arg("-q").arg(&disk.image))?;
        disk.mount()?;
        Ok(disk)
    }

    fn mount(&self) -> io::Result<()> {
        ran(Command::new("mount")
            .args(["-o", "loop"])
            .arg(&self.image)
            .arg(&self.at))
    }

    fn unmount(&self) -> io::Result<()> {
        ran(Command::new("umount").arg(&self.at))
    }

    /// Keeps what has reached the disk by now.
    fn keep(&self, name: &str) -> io::Result<()> {
        let to = self.image.with_extension(name);
        ran(Command::new("cp")
            .arg("--sparse=always")
            .arg(&self.image)
            .arg(to))
    }

    /// Mounts what was kept in the place of what is there.
    fn put_back(&self, name: &str) -> io::Result<()> {
        self.unmount()?;
        // Another file: a loop device that is not gone yet may still have pages of this one.
        fs::remove_file(&self.image)?;
        fs::copy(self.image.with_extension(name), &self.image)?;
        self.mount()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.unmount();
    }
}

fn ran(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("{command:?}: {said}")))
}

/// A cut at each place.
pub fn run(program: &Path, story: &Story, choice: &mut Choice<'_>) -> io::Result<Tally> {
    let folder = tempfile::tempdir()?;
    let disk = match Disk::make(folder.path()) {
        Ok(disk) => disk,
        Err(error) => {
            return Ok(Tally {
                skipped: Some(format!("no file system can be mounted here: {error}")),
                ..Tally::default()
            });
        }
    };
    let elsewhere = tempfile::tempdir()?;
    let whole = trial::play(
        story,
        &Stage::new(elsewhere.path(), program)?,
        &mut |_, _, _| Ok(()),
    )?;
    let elsewhere = tempfile::tempdir()?;
    let stage = Stage::new(elsewhere.path(), program)?;
    let places = trial::places(story, &stage, &[Fault::KillAll], choice)?;
    let stage = Stage::new(&disk.at, program)?;
    let mut tally = Tally::default();
    trial::play(story, &stage, &mut |number, act, _| {
        let here: Vec<_> = places.iter().filter(|place| place.act == number).collect();
        if here.is_empty() {
            return Ok(());
        }
        // All that was done in peace is on the disk.
        ran(Command::new("sync").arg("-f").arg(&disk.at))?;
        disk.unmount()?;
        disk.keep("saved")?;
        disk.mount()?;
        for place in here {
            disk.put_back("saved")?;
            let input = stage.input(act.input)?;
            let command = stage.program(act.words);
            let mut struck = trace::watch(&command, input, place.call, place.fault, &mut || {
                disk.keep("cut")
            })?;
            if !disk.image.with_extension("cut").exists() {
                continue;
            }
            // It was not answered when the power went.
            struck.status = None;
            disk.put_back("cut")?;
            fs::remove_file(disk.image.with_extension("cut"))?;
            tally.trials += 1;
            if let Err(why) = trial::ends_well(story, &stage, act, place, &whole, &struck) {
                tally.bad.push((place.name(act), why));
            }
        }
        // And once it had answered: all of it has to be there.
        disk.put_back("saved")?;
        let input = stage.input(act.input)?;
        let command = stage.program(act.words);
        let struck = trace::watch(&command, input, 0, Fault::None, &mut || Ok(()))?;
        disk.keep("cut")?;
        disk.put_back("cut")?;
        tally.trials += 1;
        let place = trial::Place {
            act: number,
            call: 0,
            fault: Fault::None,
        };
        if let Err(why) = trial::ends_well(story, &stage, act, &place, &whole, &struck) {
            tally.bad.push((format!("{}:answered", act.name), why));
        }
        disk.put_back("saved")
    })?;
    Ok(tally)
}
