//! The etcd store, against real etcd processes.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use krm_template_server_core::Store;
use krm_template_server_core::store::{Error, EtcdOptions, Event};
use libtest_mimic::Trial;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::store::kill;
use crate::store::linear;
use crate::store::model::{self, Past};
use crate::store::{needs_root, number, run, runtime, suite, trial, waiting};

/// Returns the tests. They are ignored without `etcd`.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![];
    for (name, check) in suite::CHECKS {
        trials.push(trial(format!("etcd/{name}"), move || {
            let (_alone, endpoint) = alone();
            run(async { check(store(&endpoint).await).await });
        }));
    }
    trials.push(trial("etcd/follows_the_model", follows_the_model));
    trials.push(on(1, "etcd/compacted_revisions_are_said_to_be", compacted_revisions));
    trials.push(on(1, "etcd/a_damaged_value_is_an_error_that_names_it", damaged_value));
    trials.push(on(3, "etcd/without_a_quorum_nothing_is_read", without_a_quorum));
    trials.push(on(1, "etcd/a_restored_backup_ends_watches", a_restored_backup));
    trials.push(on(3, "etcd/replicas_see_each_other", replicas_see_each_other));
    trials.push(trial("etcd/certificates_are_read_again", certificates_are_read_again));
    trials.push(waiting("etcd/wrong_options_are_refused", wrong_options));
    trials.push(trial("kill/every_write_that_etcd_acknowledged_is_there", killed_writers));
    trials.push(needs_root(trial("etcd/histories_are_linearizable", histories)));
    let is_absent = Command::new("etcd").arg("--version").output().is_err();
    let ignored = |trial: Trial| trial.with_kind("needs etcd").with_ignored_flag(true);
    trials.into_iter().map(|trial| if is_absent { ignored(trial) } else { trial }).collect()
}

/// Returns a test with its own cluster.
fn on<F: Future<Output = ()>>(
    size: usize,
    name: &str,
    test: impl FnOnce(Cluster) -> F + Send + 'static,
) -> Trial {
    trial(name, move || {
        run(test(Cluster::start(size, Network::Loopback)));
    })
}

/// Opens a store with its own key prefix.
pub(crate) async fn store(endpoint: &str) -> Store {
    let prefix = format!("/krm-template/{}/v1", tempfile_name());
    open(&[endpoint.to_owned()], &prefix).await
}

fn tempfile_name() -> String {
    let folder = tempfile::tempdir().unwrap();
    folder.path().file_name().unwrap().to_str().unwrap().to_owned()
}

pub(crate) async fn open(endpoints: &[String], prefix: &str) -> Store {
    let options = EtcdOptions {
        endpoints: endpoints.to_vec(),
        prefix: prefix.to_owned(),
        ..EtcdOptions::default()
    };
    Store::etcd(options).await.unwrap()
}

/// A shared cluster of one member, for one check at a time.
static SHARED: Mutex<Option<Cluster>> = Mutex::new(None);

fn alone() -> (MutexGuard<'static, Option<Cluster>>, String) {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let cluster = shared.get_or_insert_with(|| Cluster::start(1, Network::Loopback));
    let endpoint = cluster.endpoints().remove(0);
    (shared, endpoint)
}

/// Stops the shared cluster.
pub(crate) fn stop() {
    *SHARED.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// The network of a cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Loopback,
    /// Loopback, with TLS and certificates for clients.
    Tls,
    /// One network namespace per member, with a link to its peers and a link to its clients.
    Namespaces,
}

/// A cluster. Its members are killed on drop.
pub(crate) struct Cluster {
    folder: TempDir,
    network: Network,
    members: Vec<Member>,
    id: u32,
}

struct Member {
    name: String,
    peer: String,
    client: String,
    process: Option<Child>,
}

impl Cluster {
    pub(crate) fn start(size: usize, network: Network) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let id = std::process::id() % 10_000;
        let member = |index: usize| {
            let (peer, client) = match network {
                Network::Loopback | Network::Tls => {
                    (format!("127.0.0.1:{}", port()), format!("127.0.0.1:{}", port()))
                }
                Network::Namespaces => {
                    (format!("10.213.9.{}:2380", index + 1), format!("10.213.{index}.2:2379"))
                }
            };
            Member { name: format!("m{index}"), peer, client, process: None }
        };
        let members = (0..size).map(member).collect();
        let mut cluster = Self { folder, network, members, id };
        match network {
            Network::Loopback => {}
            Network::Tls => cluster.certify(),
            Network::Namespaces => cluster.link(),
        }
        for index in 0..size {
            cluster.launch(index);
        }
        cluster.wait();
        cluster
    }

    pub(crate) fn endpoints(&self) -> Vec<String> {
        self.members.iter().map(|member| format!("{}://{}", self.scheme(), member.client)).collect()
    }

    fn scheme(&self) -> &'static str {
        if self.network == Network::Tls { "https" } else { "http" }
    }

    /// Returns the options of a store in this cluster.
    fn options(&self, prefix: &str) -> EtcdOptions {
        let file =
            |name| (self.network == Network::Tls).then(|| self.folder.path().join::<&str>(name));
        EtcdOptions {
            endpoints: self.endpoints(),
            prefix: prefix.to_owned(),
            ca_file: file("ca.crt"),
            cert_file: file("tls.crt"),
            key_file: file("tls.key"),
        }
    }

    /// Writes a new certificate authority, and a certificate for both sides.
    fn certify(&self) {
        let (ca_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let mut ca = CertificateParams::new(vec![]).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = ca.self_signed(&ca_key).unwrap();
        let issuer = Issuer::new(ca, ca_key);
        let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let leaf = leaf.signed_by(&key, &issuer).unwrap();
        let texts = [
            ("ca.crt", certificate.pem()),
            ("tls.crt", leaf.pem()),
            ("tls.key", key.serialize_pem()),
        ];
        for (name, text) in texts {
            std::fs::write(self.folder.path().join(name), text).unwrap();
        }
    }

    fn namespace(&self, index: usize) -> String {
        format!("krm{}m{index}", self.id)
    }

    /// Creates the namespaces, a link between each pair, and a link for the clients of each.
    fn link(&self) {
        let size = self.members.len();
        for index in 0..size {
            let (space, client) = (self.namespace(index), format!("krm{}c{index}", self.id));
            ip(&format!("netns add {space}"));
            ip(&format!("link add {client} type veth peer name client netns {space}"));
            ip(&format!("addr add 10.213.{index}.1/24 dev {client}"));
            ip(&format!("link set {client} up"));
            ip(&format!("-n {space} addr add 10.213.{index}.2/24 dev client"));
            ip(&format!("-n {space} link set lo up"));
            ip(&format!("-n {space} link set client up"));
            for other in 0..index {
                let there = self.namespace(other);
                let pair = format!("type veth peer name p{index} netns {there}");
                ip(&format!("-n {space} link add p{other} {pair}"));
                for (space, from, to) in [(&space, index, other), (&there, other, index)] {
                    let addresses = format!("10.213.9.{} peer 10.213.9.{}", from + 1, to + 1);
                    ip(&format!("-n {space} addr add {addresses} dev p{to}"));
                    ip(&format!("-n {space} link set p{to} up"));
                }
            }
        }
    }

    /// Disconnects a member from its peers, or reconnects it.
    pub(crate) fn connect_peers(&self, index: usize, state: &str) {
        for other in (0..self.members.len()).filter(|&other| other != index) {
            ip(&format!("-n {} link set p{other} {state}", self.namespace(index)));
        }
    }

    /// Disconnects a member from its clients, or reconnects it.
    pub(crate) fn connect_clients(&self, index: usize, state: &str) {
        ip(&format!("link set krm{}c{index} {state}", self.id));
    }

    /// Starts the process of a member.
    pub(crate) fn launch(&mut self, index: usize) {
        let all: Vec<String> = self
            .members
            .iter()
            .map(|member| format!("{}=http://{}", member.name, member.peer))
            .collect();
        let mut command = match self.network {
            Network::Loopback | Network::Tls => Command::new("etcd"),
            Network::Namespaces => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", &self.namespace(index), "etcd"]);
                command
            }
        };
        if self.network == Network::Tls {
            command.arg("--client-cert-auth");
            for (flag, name) in [
                ("--trusted-ca-file", "ca.crt"),
                ("--cert-file", "tls.crt"),
                ("--key-file", "tls.key"),
            ] {
                command.arg(flag).arg(self.folder.path().join(name));
            }
        }
        let client = self.endpoints().remove(index);
        let member = &mut self.members[index];
        let peer = format!("http://{}", member.peer);
        let log = std::fs::File::create(self.folder.path().join(format!("{}.log", member.name)));
        let process = command
            .args(["--name", &member.name])
            .arg("--data-dir")
            .arg(self.folder.path().join(&member.name))
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--initial-cluster", &all.join(","), "--initial-cluster-state", "new"])
            .args(["--heartbeat-interval", "50", "--election-timeout", "500"])
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .spawn();
        member.process = Some(process.unwrap());
    }

    /// Waits until the cluster responds.
    pub(crate) fn wait(&self) {
        run(async {
            let store = Store::etcd(self.options("/wait")).await.unwrap();
            while store.revision().await.is_err() {
                sleep(Duration::from_millis(50)).await;
            }
        });
    }

    /// Kills the process of a member, like `kill -9`.
    pub(crate) fn kill(&mut self, index: usize) {
        if let Some(mut process) = self.members[index].process.take() {
            let _may_have_ended = process.kill();
            process.wait().unwrap();
        }
    }

    /// Sends a signal to the process of a member, such as `SIGSTOP`.
    pub(crate) fn signal(&self, index: usize, signal: Signal) {
        let process = self.members[index].process.as_ref().unwrap();
        kill_process(Pid::from_child(process), signal).unwrap();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for index in 0..self.members.len() {
            self.kill(index);
        }
        if self.network == Network::Namespaces {
            for index in 0..self.members.len() {
                // This also deletes the links of the namespace.
                let space = self.namespace(index);
                let _best_effort = Command::new("ip").args(["netns", "del", &space]).status();
            }
        }
    }
}

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
    assert!(status.success(), "ip {arguments}");
}

fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn follows_the_model() {
    let (_alone, endpoint) = alone();
    let runtime = runtime();
    model::check(24, Past::Kept, || runtime.block_on(store(&endpoint)), |store| store);
}

async fn damaged_value(cluster: Cluster) {
    const VALUE: Bytes = Bytes::from_static(b"value");
    let store = open(&cluster.endpoints(), "/p").await;
    for key in ["/t/a", "/t/b", "/t/moved"] {
        store.create(key, VALUE).await.unwrap();
    }
    let mut client = etcd_client::Client::connect(cluster.endpoints(), None).await.unwrap();
    let stored = client.get("/p/t/a", None).await.unwrap();
    let stored = stored.kvs()[0].value().to_vec();
    for bit in 0..stored.len() * 8 {
        let mut flipped = stored.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        client.put("/p/t/a", flipped, None).await.unwrap();
        let read = store.get("/t/a").await;
        let is_found = matches!(&read, Err(Error::Damaged { key, .. }) if key == "/t/a");
        assert!(is_found, "bit {bit}: {read:?}");
    }
    client.put("/p/t/moved", stored.clone(), None).await.unwrap();
    let listed = store.list("/t/", None, 0, None).await.unwrap();
    assert_eq!(listed.damaged, ["/t/a", "/t/moved"]);
    assert_eq!(listed.items.len(), 1);
    let damaged = store.get("/t/moved").await.unwrap_err();
    let Error::Damaged { revision, .. } = damaged else {
        panic!("{damaged:?}");
    };
    let stale = store.update("/t/moved", VALUE, revision - 1).await;
    assert_eq!(stale, Err(damaged.clone()));
    let deleted = store.delete("/t/moved", revision).await.unwrap();
    let mut watch = store.watch("/t/", revision).await.unwrap();
    match watch.next().await {
        Ok(Event::Delete(item)) => assert_eq!((item.revision, item.value.len()), (deleted, 0)),
        event => panic!("{event:?}"),
    }
    client.put("/p/t/bare", VALUE.to_vec(), None).await.unwrap();
    let bare = store.get("/t/bare").await;
    assert!(matches!(bare, Err(Error::Damaged { .. })), "{bare:?}");
}

async fn compacted_revisions(cluster: Cluster) {
    let store = open(&cluster.endpoints(), "/p").await;
    let first = store.create("/t/a", Bytes::from_static(b"1")).await.unwrap();
    let second = store.update("/t/a", Bytes::from_static(b"2"), first).await.unwrap();
    let third = store.update("/t/a", Bytes::from_static(b"3"), second).await.unwrap();
    let mut endpoint = cluster.endpoints();
    let mut client = etcd_client::Client::connect([endpoint.remove(0)], None).await.unwrap();
    client.compact(i64::try_from(second).unwrap(), None).await.unwrap();
    let compacted = Error::Compacted(third);
    assert_eq!(store.list("/t/", None, 0, Some(first)).await, Err(compacted.clone()));
    assert_eq!(store.watch("/t/", first).await.unwrap_err(), compacted);
    assert_eq!(store.list("/t/", None, 0, Some(second)).await.unwrap().items.len(), 1);
    let mut watch = store.watch("/t/", second).await.unwrap();
    let event = watch.next().await.unwrap();
    assert!(matches!(event, Event::Put(item, Some(_)) if item.revision == third));
}

/// A copy of the files of the member is a backup here, as `etcdutl` may be missing.
async fn a_restored_backup(mut cluster: Cluster) {
    let store = open(&cluster.endpoints(), "/p").await;
    let value = || Bytes::from_static(b"1");
    let old = store.create("/t/a", value()).await.unwrap();
    cluster.kill(0);
    let (data, backup) = (cluster.folder.path().join("m0"), cluster.folder.path().join("backup"));
    let copy = |from: &Path, to: &Path| {
        let copied = Command::new("cp").arg("-r").args([from, to]).status();
        assert!(copied.unwrap().success());
    };
    copy(&data, &backup);
    cluster.launch(0);
    while store.revision().await.is_err() {
        sleep(Duration::from_millis(50)).await;
    }
    let mut watch = store.watch("/t/", old).await.unwrap();
    for index in 0..20 {
        let created = store.create(&format!("/t/{index}"), value()).await;
        created.unwrap();
        while !matches!(watch.next().await, Ok(Event::Put(..))) {}
    }
    cluster.kill(0);
    std::fs::remove_dir_all(&data).unwrap();
    copy(&backup, &data);
    cluster.launch(0);
    loop {
        match watch.next().await {
            Ok(Event::Progress(_)) => {}
            Err(Error::Compacted(newest)) => break assert!(newest < old + 20),
            other => panic!("{other:?}"),
        }
    }
}

async fn without_a_quorum(mut cluster: Cluster) {
    let store = open(&cluster.endpoints(), "/p").await;
    let revision = store.create("/t/a", Bytes::from_static(b"1")).await.unwrap();
    assert_eq!(store.ready().await, Ok(()));
    cluster.kill(0);
    cluster.kill(1);
    // The remaining member has the item, but must not serve it.
    for _ in 0..2 {
        assert!(matches!(store.get("/t/a").await, Err(Error::Unavailable(_))));
    }
    let lost = store.update("/t/a", Bytes::from_static(b"2"), revision).await;
    assert!(matches!(lost, Err(Error::Unavailable(_))), "{lost:?}");
    assert!(matches!(store.ready().await, Err(Error::Unavailable(_))));
    cluster.launch(0);
    let begin = Instant::now();
    while store.ready().await.is_err() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the store does not come back");
        sleep(Duration::from_millis(50)).await;
    }
    let item = store.get("/t/a").await.unwrap().unwrap();
    assert!(item.revision == revision || item.value == b"2"[..]);
}

async fn replicas_see_each_other(cluster: Cluster) {
    let mut endpoints = cluster.endpoints();
    let one = open(&endpoints, "/p").await;
    endpoints.rotate_left(1);
    let other = open(&endpoints, "/p").await;
    let mut watch = other.watch("/t/", other.revision().await.unwrap()).await.unwrap();
    for index in 0..20 {
        let key = format!("/t/{index}");
        let revision = one.create(&key, Bytes::from_static(b"1")).await.unwrap();
        let event = timeout(Duration::from_secs(1), watch.next()).await.expect("not seen").unwrap();
        assert!(matches!(event, Event::Put(item, None) if item.revision == revision));
        assert_eq!(other.get(&key).await.unwrap().unwrap().revision, revision);
    }
}

fn certificates_are_read_again() {
    let mut cluster = Cluster::start(1, Network::Tls);
    let runtime = runtime();
    let store = runtime.block_on(Store::etcd(cluster.options("/p"))).unwrap();
    let value = Bytes::from_static(b"1");
    runtime.block_on(store.create("/t/a", value.clone())).unwrap();
    // A new authority: neither side trusts the old certificates.
    cluster.kill(0);
    cluster.certify();
    cluster.launch(0);
    cluster.wait();
    let begin = Instant::now();
    while runtime.block_on(store.get("/t/a")).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the store keeps its old certificates");
    }
    runtime.block_on(store.create("/t/b", value)).unwrap();
    let stranger = EtcdOptions { cert_file: None, key_file: None, ..cluster.options("/p") };
    let refused = run(async { Store::etcd(stranger).await.unwrap().get("/t/a").await });
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
}

async fn wrong_options() {
    let no_endpoints = EtcdOptions::default();
    let endpoints = vec!["https://127.0.0.1:1".to_owned()];
    let no_key = EtcdOptions {
        endpoints: endpoints.clone(),
        cert_file: Some("/nonexistent".into()),
        ..EtcdOptions::default()
    };
    let no_file =
        EtcdOptions { endpoints, ca_file: Some("/nonexistent".into()), ..EtcdOptions::default() };
    for (options, why) in [
        (no_endpoints, "etcd: no endpoints"),
        (no_key, "etcd: a client certificate needs its key, and the key its certificate"),
        (
            no_file,
            "etcd: https://127.0.0.1:1: /nonexistent: No such file or directory (os error 2)",
        ),
    ] {
        let error = Store::etcd(options).await.unwrap_err();
        assert_eq!(error, Error::Unavailable(why.to_owned()));
    }
}

fn killed_writers() {
    let cluster = Mutex::new(Cluster::start(3, Network::Loopback));
    let endpoints = cluster.lock().unwrap().endpoints();
    let looking = runtime();
    let disturb = |round: u64| {
        // Every second round also kills a member of the cluster.
        let index = usize::try_from(round / 2 % 3).unwrap();
        let mut cluster = cluster.lock().unwrap();
        if round.is_multiple_of(2) {
            cluster.kill(index);
            thread::sleep(Duration::from_millis(300));
            cluster.launch(index);
        }
    };
    let open = || {
        // Requests in flight reach the cluster.
        thread::sleep(Duration::from_millis(200));
        looking.block_on(open(&endpoints, "/kill"))
    };
    let rounds = number("KRM_TEMPLATE_KILL_ROUNDS", 4);
    kill::rounds(rounds, &endpoints.join(","), disturb, open);
}

fn histories() {
    let mut cluster = Cluster::start(3, Network::Namespaces);
    let endpoints = cluster.endpoints();
    let rounds = number("KRM_TEMPLATE_HISTORY_ROUNDS", 1);
    linear::check(&endpoints, || {
        let pause = || thread::sleep(Duration::from_millis(1_500));
        for round in 0..usize::try_from(rounds).unwrap() {
            let index = round % 3;
            pause();
            cluster.kill(index);
            pause();
            cluster.launch(index);
            let index = (round + 1) % 3;
            pause();
            cluster.signal(index, Signal::STOP);
            pause();
            cluster.signal(index, Signal::CONT);
            let index = (round + 2) % 3;
            pause();
            cluster.connect_peers(index, "down");
            pause();
            cluster.connect_peers(index, "up");
            pause();
            cluster.connect_clients(index, "down");
            pause();
            cluster.connect_clients(index, "up");
            (0..3).for_each(|index| cluster.kill(index));
            (0..3).for_each(|index| cluster.launch(index));
            pause();
        }
        cluster.wait();
    });
}
